import { badInput, cancelled, type WhetstoneError } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';
import type { RepositoryEnvironment } from '../environment.js';
import { mergeReports } from '../testing/mergeReports.js';
import type { DetectedRunner, TestReport } from '../testing/testRunner.js';
import { neededService, serviceIn } from './neededService.js';
import { sampleSuite } from './sampleSuite.js';
import { shortMessage } from './statement.js';
import { runOnce } from './trial.js';
import { flakyTests } from './verdict.js';

/** How the tests behave in the sound tree. */
export interface Baseline {
  /** Of whole runs, all of them complete; one alone where the suite is slow. */
  readonly reports: readonly TestReport[];
  /** The files of the runners that came to their end. */
  readonly testFiles: readonly string[];
  /** Tests that do not give the same result in every run. */
  readonly flaky: readonly string[];
  /** Wall time of the slowest run. */
  readonly durationMs: number;
  /** One line for each runner, or group of tests, that is there and gives no baseline. */
  readonly leftOut: readonly string[];
}

export interface BaselineSettings {
  /** How often all tests are run. */
  readonly times: number;
  /** For one run. */
  readonly timeoutMs: number;
  /** Runs at the same time, after the first. */
  readonly concurrency: number;
  readonly signal?: AbortSignal;
}

/** A suite that takes longer, or is run in part, is run once: whoever grades by a part of it runs that part as often as is needed. */
const SLOW_MS = 60_000;

/**
 * Runs all tests several times in the environment's base tree. Of several runners, those that fail are left out; throws
 * `badInput` where none gives anything to build on.
 */
export async function measureBaseline(
  environment: RepositoryEnvironment,
  settings: BaselineSettings,
): Promise<Baseline> {
  const first = await runParts(environment, environment.suites.parts, settings);
  const good = new Map(first.reports);
  if (good.size === 0) throw first.problems[0];
  const problems = [...first.problems];
  const runs = [first.reports];
  const isSlow =
    total(first.reports) > SLOW_MS || [...good.keys()].some((part) => !environment.suites.parts.includes(part));
  const more = isSlow ? 0 : settings.times - 1;
  for (let done = 0; done < more; done += settings.concurrency) {
    const count = Math.min(settings.concurrency, more - done);
    const batch = await Promise.allSettled(
      Array.from({ length: count }, () => runParts(environment, [...good.keys()], settings)),
    );
    for (const one of batch) {
      if (one.status === 'rejected') throw one.reason;
      runs.push(one.value.reports);
      problems.push(...one.value.problems);
      for (const part of good.keys()) if (!one.value.reports.has(part)) good.delete(part);
    }
    if (good.size === 0) throw problems[0];
  }
  const parts = [...good.keys()];
  const reports = runs.map((run) => mergeReports(parts.flatMap((part) => run.get(part) ?? [])));
  return {
    reports,
    testFiles: parts.flatMap(({ testFiles }) => testFiles),
    flaky: flakyTests(reports.map(({ results }) => results)),
    durationMs: Math.max(...reports.map(({ durationMs }) => durationMs)),
    leftOut: [...environment.suites.unusable, ...new Set(problems.map(({ line }) => line)), ...serviceNote(reports[0])],
  };
}

const total = (reports: ReadonlyMap<DetectedRunner, TestReport>) =>
  [...reports.values()].reduce((sum, { durationMs }) => sum + durationMs, 0);

/** Runs each part's tests once, in one fresh tree. */
async function runParts(
  environment: RepositoryEnvironment,
  parts: readonly DetectedRunner[],
  { timeoutMs, signal }: BaselineSettings,
): Promise<{ readonly reports: Map<DetectedRunner, TestReport>; readonly problems: readonly WhetstoneError[] }> {
  const reports = new Map<DetectedRunner, TestReport>();
  const problems: WhetstoneError[] = [];
  const workspace = await environment.openWorkspaceFromTree(environment.baseTree, '');
  try {
    for (const part of parts) {
      const once = await workspace.runTests({ files: part.testFiles, timeoutMs, signal });
      if (signal?.aborted) throw cancelled();
      // The machine may have had a bad moment: a suite is left out for what it does twice.
      const report = once.outcome === 'crashed' ? await runAgain(environment, part, { timeoutMs, signal }) : once;
      const problem = problemOf(part, environment.repoRoot, report, timeoutMs);
      if (problem === null) reports.set(part, report);
      else problems.push(problem);
      if (report.outcome !== 'timed-out' || part.testFiles.length === 1) continue;
      const sample = await sampleSuite(environment, part, { budgetMs: timeoutMs, signal });
      if (sample === null || problemOf(sample.part, environment.repoRoot, sample.report, timeoutMs) !== null) continue;
      reports.set(sample.part, sample.report);
      problems.splice(-1, 1, tooLong(part, sample.part, timeoutMs));
    }
  } finally {
    await workspace.dispose();
  }
  return { reports, problems };
}

function runAgain(
  environment: RepositoryEnvironment,
  { testFiles }: DetectedRunner,
  settings: Pick<BaselineSettings, 'timeoutMs' | 'signal'>,
): Promise<TestReport> {
  const open = () => environment.openWorkspaceFromTree(environment.baseTree, '');
  return runOnce(open, { files: testFiles, ...settings });
}

function problemOf(
  { runner: { name } }: DetectedRunner,
  repoRoot: string,
  report: TestReport,
  timeoutMs: number,
): WhetstoneError | null {
  const lastLine = report.output.trim().split('\n').at(-1)?.trim() ?? '';
  const service = neededService(report)?.service ?? serviceIn(report.output);
  switch (report.outcome) {
    case 'no-tests':
      return badInput(say`${name} found no tests in ${repoRoot}.`, say`Add tests that ${name} runs, and commit them.`);
    case 'timed-out':
      if (service !== null) return needs(name, service);
      return badInput(
        say`The tests did not end within ${Math.round(timeoutMs / 1000)} s.`,
        'Allow them more time with --test-seconds, or see why they hang without a network.',
      );
    case 'crashed':
      if (service !== null) return needs(name, service);
      return badInput(say`The tests did not run to their end: ${lastLine}`, say`Make them pass with ${name} first.`);
    case 'completed':
      break;
  }
  if (report.results.some(({ status }) => status === 'passed')) return null;
  const failure = report.results.find(({ status }) => status === 'failed');
  if (failure === undefined) return badInput('Every test is skipped.', 'Enable some of the tests.');
  if (service !== null) return needs(name, service);
  return badInput(
    say`Every test fails before anything was changed, first ${failure.id}: ${shortMessage(failure.message)}`,
    'Make them pass in a clean clone without a network first.',
  );
}

const tooLong = (whole: DetectedRunner, sample: DetectedRunner, timeoutMs: number) =>
  badInput(
    say`The tests did not end within ${Math.round(timeoutMs / 1000)} s, so ${sample.testFiles.length} of ${whole.testFiles.length} test files are used.`,
    'Allow them more time with --test-seconds.',
  );

const needs = (name: string, service: string) =>
  badInput(
    say`The tests of ${name} need ${service}, which cannot be reached where they run.`,
    'Only tests that need no service can be graded by.',
  );

function serviceNote(report: TestReport): string[] {
  const needed = neededService(report);
  if (needed === null) return [];
  return [`Tests left out since they need ${needed.service}: ${needed.tests}.`];
}
