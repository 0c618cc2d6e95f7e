import { badInput, cancelled, type WhetstoneError } from '../../trajectory/errors.js';
import type { RepositoryEnvironment } from '../environment.js';
import type { DetectedRunner, TestReport } from '../testing/testRunner.js';
import { shortMessage } from './statement.js';
import { flakyTests, type Run } from './verdict.js';

/** How the tests behave in the sound tree. */
export interface Baseline {
  readonly runs: readonly Run[];
  /** The files of the runners that came to their end. */
  readonly testFiles: readonly string[];
  /** Tests that do not give the same result in every run. */
  readonly flaky: readonly string[];
  /** Wall time of the slowest run. */
  readonly durationMs: number;
  /** One line for each runner that is there and gives no baseline. */
  readonly leftOut: readonly string[];
}

/**
 * Runs all tests `times` times in the environment's base tree. Of several runners, those that fail are left out; throws
 * `badInput` where none gives anything to build on.
 */
export async function measureBaseline(
  environment: RepositoryEnvironment,
  times: number,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<Baseline> {
  const measured = new Map<DetectedRunner, TestReport[]>(environment.suites.parts.map((part) => [part, []]));
  const problems: WhetstoneError[] = [];
  for (let run = 0; run < times; run++) {
    const workspace = await environment.openWorkspaceFromTree(environment.baseTree, '');
    try {
      for (const [part, reports] of measured) {
        const report = await workspace.runTests({ files: part.testFiles, timeoutMs, signal });
        if (signal?.aborted) throw cancelled();
        const problem = problemOf(part, environment.repoRoot, report, timeoutMs);
        if (problem === null) reports.push(report);
        else {
          problems.push(problem);
          measured.delete(part);
        }
      }
    } finally {
      await workspace.dispose();
    }
    if (measured.size === 0) throw problems[0];
  }
  const parts = [...measured.values()];
  const runs = parts[0].map((_, run) => parts.flatMap((reports) => reports[run].results));
  const durations = runs.map((_, run) => parts.reduce((sum, reports) => sum + reports[run].durationMs, 0));
  return {
    runs,
    testFiles: [...measured.keys()].flatMap(({ testFiles }) => testFiles),
    flaky: flakyTests(runs),
    durationMs: Math.max(...durations),
    leftOut: [...environment.suites.unusable, ...problems.map(({ line }) => line)],
  };
}

function problemOf(
  { runner: { name } }: DetectedRunner,
  repoRoot: string,
  report: TestReport,
  timeoutMs: number,
): WhetstoneError | null {
  const lastLine = report.output.trim().split('\n').at(-1)?.trim() ?? '';
  switch (report.outcome) {
    case 'no-tests':
      return badInput(`${name} found no tests in ${repoRoot}.`, `Add tests that ${name} runs, and commit them.`);
    case 'timed-out':
      return badInput(
        `The tests did not end within ${Math.round(timeoutMs / 1000)} s.`,
        'Allow them more time, or see why they hang without a network.',
      );
    case 'crashed':
      return badInput(`The tests did not run to their end: ${lastLine}`, `Make them pass with ${name} first.`);
    case 'completed':
      break;
  }
  if (report.results.some(({ status }) => status === 'passed')) return null;
  const failure = report.results.find(({ status }) => status === 'failed');
  if (failure === undefined) return badInput('Every test is skipped.', 'Enable some of the tests.');
  return badInput(
    `Every test fails before anything was changed, first ${failure.id}: ${shortMessage(failure.message)}`,
    'Make them pass in a clean clone without a network first.',
  );
}
