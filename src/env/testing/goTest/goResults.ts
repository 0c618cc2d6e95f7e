import path from 'node:path';
import { z } from 'zod';
import type { TestResult } from '../testRunner.js';
import { withUniqueIds, type NamedResult } from '../uniqueIds.js';
import { buildFailureMessage, goFailureMessage, outputByTest } from './goMessages.js';

const programRun = z.object({
  code: z.number().nullable(),
  signal: z.string().nullable(),
  output: z.string(),
  /** The exit code that `testing` came to; absent where the program ended before. */
  end: z.number().optional(),
  records: z.array(
    z.object({
      kind: z.enum(['start', 'result']),
      status: z.enum(['-', 'passed', 'failed', 'skipped']),
      name: z.string(),
    }),
  ),
  /** Tests that took the program down. */
  died: z.array(z.string()).optional(),
});
const goPackage = z.object({
  /** Relative to where Go was started, as the files are. */
  folder: z.string(),
  files: z.array(z.string()),
  tests: z.array(z.object({ name: z.string(), file: z.string() })),
  /** Null where the package's test program was not built. */
  runs: z.array(programRun).nullable(),
});
const document = z.object({ buildOutput: z.string(), packages: z.array(goPackage) });

type GoPackage = z.infer<typeof goPackage>;
type ProgramRun = z.infer<typeof programRun>;

/** Results of what the launcher wrote; null where that is no whole document. `root` is where Go was started. */
export function parseGoResults(
  text: string,
  context: { readonly root: string; readonly tree: string },
): TestResult[] | null {
  let parsed: z.infer<typeof document>;
  try {
    parsed = document.parse(JSON.parse(text));
  } catch {
    return null;
  }
  const results = parsed.packages.flatMap((found) =>
    found.runs === null
      ? notBuilt(found, parsed.buildOutput, context)
      : found.runs.flatMap((run) => resultsOf(run, found, context)),
  );
  // Tests that run side by side end in any order.
  return withUniqueIds(worstOfEach(results)).sort((a, b) => (a.id < b.id ? -1 : 1));
}

interface Context {
  readonly root: string;
  readonly tree: string;
}

function notBuilt({ folder, files }: GoPackage, output: string, { root, tree }: Context): NamedResult[] {
  return files.map((name) => {
    const file = path.posix.join(root, name);
    const message = buildFailureMessage(output, root, path.posix.join(root, folder), { tree, testFile: file });
    return { file, path: [], status: 'failed', message };
  });
}

function resultsOf(run: ProgramRun, { folder, files, tests }: GoPackage, { root, tree }: Context): NamedResult[] {
  const fileOf = new Map(tests.map(({ name, file }) => [name, path.posix.join(root, file)]));
  const outputs = outputByTest(run.output);
  const fullFolder = path.posix.join(root, folder);
  const died = (run.died ?? []).map((name) => ({ name, status: 'failed' as const }));
  const reported = run.records.flatMap(({ kind, name, status }) =>
    kind === 'result' && status !== '-' ? [{ name, status }] : [],
  );
  const results = [...reported, ...died].flatMap(({ name, status }): NamedResult[] => {
    const names = name.split('/');
    const file = fileOf.get(names[0]);
    if (file === undefined) return [];
    const message =
      status === 'failed' ? goFailureMessage(outputs.get(name) ?? [], fullFolder, { tree, testFile: file }) : '';
    return [{ file, path: names, status, message }];
  });
  const problem = problemOf(run);
  if (problem === null) return results;
  const whole = files.map((name): NamedResult => {
    const file = path.posix.join(root, name);
    const lines = [...outputs.values()].flat().slice(-40);
    const words = goFailureMessage(lines, fullFolder, { tree, testFile: file });
    return { file, path: [], status: 'failed', message: [problem, words].filter((part) => part !== '').join('\n') };
  });
  return [...results, ...whole];
}

/** What went wrong with a program that no test of it shows; null where nothing did. */
function problemOf({ code, signal, end, records, died }: ProgramRun): string | null {
  const named = (kind: string) => records.filter((record) => record.kind === kind).map(({ name }) => name);
  const finished = new Set(named('result'));
  const ending = code === null ? `was ended by ${signal}` : `ended with exit code ${code}`;
  if (end === undefined) {
    const hasOpen = named('start').some((name) => !finished.has(name));
    return hasOpen || (died ?? []).length > 0 ? null : `The test program ${ending} before its tests were run.`;
  }
  const hasFailed = records.some(({ status }) => status === 'failed');
  return code === end && (end === 0 || hasFailed) ? null : `The test program ${ending}, whatever its tests say.`;
}

/** One result for each name: where several starts of a program, or several runs in one, differ, the worst. */
function worstOfEach(results: readonly NamedResult[]): NamedResult[] {
  const order = ['failed', 'skipped', 'passed'];
  const byName = new Map<string, NamedResult>();
  for (const result of results) {
    const name = JSON.stringify([result.file, ...result.path]);
    const known = byName.get(name);
    if (!known || order.indexOf(result.status) < order.indexOf(known.status)) byName.set(name, result);
  }
  return [...byName.values()];
}
