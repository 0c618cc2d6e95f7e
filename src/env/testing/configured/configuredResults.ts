import path from 'node:path';
import { failureText, insideTree, normalizeText, usefulFrames, type Frame } from '../failureMessage.js';
import { parseJUnitXml, type JUnitCase } from '../junitXml.js';
import { parseTap, type TapTest } from '../tap.js';
import type { NamedResult } from '../uniqueIds.js';

/** Where the results come from. */
export interface ResultsContext {
  /** Folder that the command ran in, relative to the tree. */
  readonly root: string;
  readonly testFiles: readonly string[];
  /** The tree's path as the tests saw it. */
  readonly tree: string;
}

/** What one run of the command left. `file`: the test file that it was for; null where it was for several. */
export interface CommandRun {
  readonly file: string | null;
  /** Null where a signal or the time ended it. */
  readonly exitCode: number | null;
  readonly documents: readonly string[];
}

/**
 * Results of one run. They are incomplete where there is no document, or one that cannot be read, where the command was ended from
 * outside, or where it says that it failed while no test did: the test file that it was for has failed then, and where it
 * was for several, there are no results (null).
 */
export function resultsOfRun(run: CommandRun, format: 'junit' | 'tap', context: ResultsContext): NamedResult[] | null {
  const results = completeResults(run, format, context);
  if (results !== null || run.file === null) return results;
  const end = run.exitCode === null ? 'was ended' : `ended with exit code ${run.exitCode}`;
  const message = `The command ${end} before its results were complete.`;
  return [{ file: run.file, path: [], status: 'failed', message }];
}

function completeResults(
  { file, exitCode, documents }: CommandRun,
  format: 'junit' | 'tap',
  context: ResultsContext,
): NamedResult[] | null {
  if (exitCode === null || documents.length === 0) return null;
  const results: NamedResult[] = [];
  for (const document of documents) {
    const found =
      format === 'junit'
        ? parseJUnitXml(document)?.map((test) => ofJUnit(test, file, context))
        : parseTap(document)?.map((test) => ofTap(test, file, context));
    if (!found) return null;
    results.push(...found);
  }
  return exitCode !== 0 && !results.some(({ status }) => status === 'failed') ? null : results;
}

function ofJUnit(test: JUnitCase, of: string | null, context: ResultsContext): NamedResult {
  const words = [...test.suites, test.className].filter((word) => word !== '');
  const file =
    of ?? namedFile(test.file, context) ?? impliedFile([...words].reverse(), context) ?? context.testFiles[0];
  // The class says what the suites say and more, in most dialects.
  const around = test.className === '' ? test.suites : [test.className];
  const names = [...around.map((word) => withoutFile(word, file)), test.name].filter((word) => word !== '');
  const { reason } = test;
  const message =
    test.status === 'failed' && reason
      ? messageOf(reason.message || (reason.text.trim() ? '' : reason.type), reason.text, file, context)
      : '';
  return { file, path: clean(names, context), status: test.status, message };
}

function ofTap(test: TapTest, of: string | null, context: ResultsContext): NamedResult {
  const file = of ?? impliedFile(test.path, context) ?? context.testFiles[0];
  const around = test.path.slice(0, -1).map((word) => withoutFile(word, file));
  const names = [...around, ...test.path.slice(-1)].filter((word) => word !== '');
  const message = test.status === 'failed' ? messageOf('', test.diagnostics, file, context) : '';
  return { file, path: clean(names, context), status: test.status, message };
}

const clean = (names: readonly string[], { tree }: ResultsContext) =>
  names.map((name) => normalizeText(name, tree)).filter((name, index, all) => name !== all[index - 1]);

/** The test file that a path in the results means: from the root of the machine, of the tree or of the run, or its end. */
function namedFile(name: string | null, { root, testFiles, tree }: ResultsContext): string | undefined {
  if (name === null) return undefined;
  const slashed = name.replaceAll('\\', '/');
  const inTree = insideTree(slashed, tree);
  const candidates = inTree === null ? [path.posix.join(root, slashed), path.posix.normalize(slashed)] : [inTree];
  return (
    testFiles.find((file) => candidates.includes(file)) ??
    testFiles.find((file) => file.endsWith(`/${path.posix.normalize(slashed)}`))
  );
}

/** The test file that one of the words names, as a path or as a class or module does (`tests.test_a.TestC`); the longest. */
function impliedFile(words: readonly string[], context: ResultsContext): string | undefined {
  for (const word of words) {
    const file =
      namedFile(word, context) ??
      context.testFiles.filter((name) => dottedPrefix(word, name) !== '').sort(longerFirst)[0];
    if (file !== undefined) return file;
  }
  return undefined;
}

const longerFirst = (a: string, b: string) => b.length - a.length;

/** The longest end of the file's name, without its extension and with dots, that `word` is or begins with; at least the file's own name. */
function dottedPrefix(word: string, file: string): string {
  const parts = file.replace(/\.[^/.]+$/, '').split('/');
  for (let start = 0; start < parts.length; start += 1) {
    const dotted = parts.slice(start).join('.');
    if (word === dotted || word.startsWith(`${dotted}.`)) return dotted;
  }
  return '';
}

/** What a class's or suite's name says beside the file. */
function withoutFile(word: string, file: string): string {
  const slashed = word.replaceAll('\\', '/');
  if (slashed === file || file.endsWith(`/${slashed}`) || slashed.endsWith(`/${file}`)) return '';
  return word.slice(dottedPrefix(word, file).length).replace(/^\./, '');
}

/** The tool's own words and the places in the tree that it names, each the same on every run. */
function messageOf(headline: string, text: string, file: string, context: ResultsContext): string {
  const rows = normalizeText(`${headline}\n${text}`, context.tree)
    .replace(/\b0x[0-9a-f]{6,}/gi, '0x…')
    // Rust's panics name the process.
    .replace(/^(thread '.*') \(\d+\) panicked/gm, '$1 panicked')
    .split('\n')
    .map((row) => row.trimEnd());
  const words = rows
    .filter((row) => row !== '' && !furniture.test(row))
    .map((row) => row.replace(duration, '').replace(/: [|>]-?$/, ':'));
  const bare = words.map((row) => row.replace(/:$/, ''));
  const distinct = words.filter((_, index) => bare.indexOf(bare[index]) === index);
  const frames = rows.flatMap((row) => placesOf(row, context));
  return failureText(distinct.slice(0, 4), usefulFrames(frames, file), { tree: context.tree, testFile: file });
}

/** Frames of a stack, and keys of a YAML block that differ from run to run or only head others. */
const furniture = /^\s*(at\b|(stack|location|duration\w*|time|type|failureType|code)\s*:)|\(\S*:\d+:\d+\)$/;
/** `(0.02s)` or `took 3 ms` at the end of a line. */
const duration = /\s*(\(\d+(\.\d+)?\s?m?s\)|\btook \d+(\.\d+)?\s?(ms|s|seconds))$/;

/** `path/file.ext:12` or, as bats writes it, `path/file.ext, line 12`, where the path can be one of the tree. */
function placesOf(row: string, { root, testFiles }: ResultsContext): Frame[] {
  return [...row.matchAll(/([^\s:()'"`<>,]+\.\w+)(?::|, line )(\d+)/g)].flatMap(([, name, line]) => {
    const slashed = name.replaceAll('\\', '/');
    const inRoot = path.posix.join(root, slashed);
    const file = testFiles.includes(inRoot) ? inRoot : path.posix.normalize(slashed);
    const isForeign = /^([/.]|[A-Za-z]:)|(^|\/)(node_modules|site-packages|vendor)\//.test(file) || !file.includes('/');
    return isForeign && !testFiles.includes(file) ? [] : [{ file, line: Number(line) }];
  });
}
