import path from 'node:path';
import { z } from 'zod';
import { failureText, insideTree, usefulFrames, type Frame, type MessageContext } from '../failureMessage.js';
import type { TestResult } from '../testRunner.js';
import { withUniqueIds, type NamedResult } from '../uniqueIds.js';

const shownLines = 4;

const test = z.object({
  /** Relative to where Cargo was started, as all files are. */
  file: z.string(),
  /** Modules below the file's own, and the test's name. */
  path: z.array(z.string()),
  status: z.enum(['passed', 'failed', 'skipped']),
  words: z.string(),
});
const document = z.object({
  files: z.array(z.string()),
  errors: z.array(
    z.object({ text: z.string(), file: z.string().optional(), line: z.number().optional(), source: z.string() }),
  ),
  /** `tests` is null where the program did not prove its list of tests. */
  programs: z.array(z.object({ source: z.string(), tests: z.array(test).nullable() })),
});

interface Context {
  readonly root: string;
  readonly tree: string;
}

/** Results of what the launcher wrote; null where that is no whole document. `root` is where Cargo was started. */
export function parseCargoResults(text: string, { root, tree }: Context): TestResult[] | null {
  let parsed: z.infer<typeof document>;
  try {
    parsed = document.parse(JSON.parse(text));
  } catch {
    return null;
  }
  const inTree = (file: string) => path.posix.join(root, file);
  const programs = [...parsed.programs].sort((a, b) => (a.source < b.source ? -1 : 1));
  const results = programs.flatMap(({ tests }) =>
    (tests ?? []).map(({ file, words, ...result }): NamedResult => {
      const testFile = inTree(file);
      const message = result.status === 'failed' ? rustFailureMessage(words, root, { tree, testFile }) : '';
      return { ...result, file: testFile, message };
    }),
  );
  const withResults = new Set(results.map(({ file }) => file));
  const problem = problemOf(parsed, root, tree);
  const whole = parsed.files
    .map(inTree)
    .filter((file) => problem !== null && !withResults.has(file))
    .map((file): NamedResult => ({ file, path: [], status: 'failed', message: problem ?? '' }));
  return withUniqueIds([...results, ...whole]);
}

/** Why a program has no results; null where each has. */
function problemOf({ errors, programs }: z.infer<typeof document>, root: string, tree: string): string | null {
  if (errors.length > 0) {
    const lines = errors.map(({ text, file, line }) =>
      file === undefined ? text : `${path.posix.join(root, file)}:${line}: ${text.split('\n')[0]}`,
    );
    return failureText([...new Set(lines)].slice(0, shownLines), [], { tree, testFile: '' });
  }
  const silent = programs.find(({ tests }) => tests === null);
  return silent ? `The test program of ${path.posix.join(root, silent.source)} does not list its tests.` : null;
}

/** The first panic's own words and its place, or what a test that gives back an error prints. */
export function rustFailureMessage(words: string, root: string, context: MessageContext): string {
  const lines = words.split('\n');
  const frames: Frame[] = [];
  const at = lines.findIndex((line) => /^thread '.*' (\(\d+\) )?panicked at /.test(line));
  const place = /panicked at (?:'.*', )?(.+?):(\d+):\d+:?$/.exec(lines[at] ?? '');
  if (place) {
    const file = path.isAbsolute(place[1]) ? insideTree(place[1], context.tree) : path.posix.join(root, place[1]);
    if (file !== null) frames.push({ file, line: Number(place[2]) });
  }
  const older = /panicked at '(.*)', /.exec(lines[at] ?? '');
  const after = lines.slice(at + 1);
  const end = after.findIndex((line) => /^(note: |stack backtrace:|thread ')/.test(line));
  const body = end < 0 ? after : after.slice(0, end);
  const said = [...(older ? [older[1]] : []), ...body].map((line) => line.trim()).filter((line) => line !== '');
  return failureText(said.slice(0, shownLines), usefulFrames(frames, context.testFile), context);
}
