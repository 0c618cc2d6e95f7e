import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { insideTree, nodeFailureMessage, withoutColours } from '../failureMessage.js';
import { isProven } from '../resultsProof.js';
import type { TestResult } from '../testRunner.js';
import { withUniqueIds, type NamedResult } from '../uniqueIds.js';

const startLine = z.object({ kind: z.literal('start') });
const endLine = z.object({ kind: z.literal('end'), proof: z.string().optional() });
const resultLine = z.object({
  kind: z.literal('result'),
  /** Names of the suites and the test's own; empty where the file as a whole failed. */
  path: z.array(z.string()),
  /** The file that made the test; empty where that is not known. */
  file: z.string(),
  /** The test file that was run. */
  entryFile: z.string(),
  passed: z.boolean(),
  skipped: z.boolean(),
  /** What the process wrote, where a file ended it. */
  stderr: z.string().optional(),
  error: z.object({ message: z.string(), name: z.string().optional(), stack: z.string().optional() }).optional(),
});
type ResultLine = z.infer<typeof resultLine>;

export interface JestResultsContext {
  /** The tree's path as the tests saw it. */
  readonly tree: string;
  /** Is this file of the tree a test? A test that another made has that file's path in its name, so that it cannot stand in for one of theirs. */
  readonly isTestFile: (file: string) => boolean;
  /** Where given, it has to prove the results. */
  readonly key?: string;
}

/** Results from `jestLauncher`'s lines; null where they are not complete, or not proven. */
export function parseJestResults(text: string, context: JestResultsContext): TestResult[] | null {
  const lines = text.split('\n').slice(0, -1);
  const end = parsed(endLine, lines[lines.length - 1]);
  const before = lines.slice(0, -1);
  if (!end || !parsed(startLine, before[0])) return null;
  const { key } = context;
  if (key !== undefined && !isProven(before.map((line) => `${line}\n`).join(''), end.proof ?? '', key)) return null;
  const results = before.slice(1).map((line) => parsed(resultLine, line));
  if (!results.every((result) => result !== null)) return null;
  return withUniqueIds(results.map((result) => namedResult(result, context)));
}

function namedResult(result: ResultLine, { tree, isTestFile }: JestResultsContext): NamedResult {
  const file = repositoryPath(result.entryFile, tree);
  const maker = result.file === '' ? 'elsewhere' : repositoryPath(result.file, tree);
  const isTheirs = result.path.length === 0 || maker === file || isTestFile(maker);
  const status = result.skipped ? 'skipped' : result.passed ? 'passed' : 'failed';
  const { error, stderr } = result;
  const message =
    status === 'failed' && error
      ? nodeFailureMessage({ ...error, message: shortMessage(error.message), stderr }, { tree, testFile: file })
      : '';
  return { file, path: isTheirs ? result.path : [maker, ...result.path], status, message };
}

function repositoryPath(location: string, tree: string): string {
  const plain = location.startsWith('file:') ? fileURLToPath(location) : location;
  return insideTree(path.resolve(tree, plain), tree) ?? plain.replaceAll('\\', '/');
}

/**
 * The words of an assertion of Jest's that fit into a few lines: what was called, then both values, and of a difference
 * drawn over many lines only those that differ.
 */
export function shortMessage(message: string): string {
  const lines = withoutColours(message)
    .split('\n')
    .filter((line) => line.trim() !== '' && !advice.test(line));
  const isLegend = (line: string) => /^\s*[-+] (Expected|Received|Snapshot)\b.*[-+] +\d+$/.test(line);
  if (!lines.some(isLegend)) return lines.join('\n');
  const differing = lines.slice(1).filter((line) => /^\s*[-+] /.test(line) && !isLegend(line));
  return [lines[0], ...differing.map((line) => line.trim().replace(/^([-+])\s+/, '$1 '))].join('\n');
}

/** What Jest says about itself. */
const advice =
  /^(Add a timeout value to this test|This is likely because this test is run in a continuous integration)/;

function parsed<T>(schema: z.ZodType<T>, line: string | undefined): T | null {
  try {
    return schema.parse(JSON.parse(line ?? ''));
  } catch {
    return null;
  }
}
