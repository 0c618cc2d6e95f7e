import { badInput, cancelled } from '../../trajectory/errors.js';
import type { RepositoryEnvironment } from '../environment.js';
import type { TestReport } from '../testing/testRunner.js';
import { shortMessage } from './statement.js';
import { flakyTests, type Run } from './verdict.js';

/** How the suite behaves in the sound tree. */
export interface Baseline {
  readonly runs: readonly Run[];
  /** Tests that do not give the same result in every run. */
  readonly flaky: readonly string[];
  /** Wall time of the slowest run. */
  readonly durationMs: number;
}

/** Runs the whole suite `times` times in the environment's base tree. Throws `badInput` where there is nothing to build on. */
export async function measureBaseline(
  environment: RepositoryEnvironment,
  times: number,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<Baseline> {
  const reports: TestReport[] = [];
  for (let run = 0; run < times; run++) {
    const workspace = await environment.openWorkspaceFromTree(environment.baseTree, '');
    try {
      const report = await workspace.runTests({ timeoutMs, signal });
      if (signal?.aborted) throw cancelled();
      refuseBroken(environment, report, timeoutMs);
      reports.push(report);
    } finally {
      await workspace.dispose();
    }
  }
  const runs = reports.map(({ results }) => results);
  return { runs, flaky: flakyTests(runs), durationMs: Math.max(...reports.map(({ durationMs }) => durationMs)) };
}

function refuseBroken(environment: RepositoryEnvironment, report: TestReport, timeoutMs: number): void {
  const { name } = environment.detected.runner;
  const lastLine = report.output.trim().split('\n').at(-1)?.trim() ?? '';
  switch (report.outcome) {
    case 'no-tests':
      throw badInput(`${name} found no tests in ${environment.repoRoot}.`, 'Add tests for node:test or pytest.');
    case 'timed-out':
      throw badInput(
        `The tests did not end within ${Math.round(timeoutMs / 1000)} s.`,
        'Allow them more time, or see why they hang without a network.',
      );
    case 'crashed':
      throw badInput(`The tests did not run to their end: ${lastLine}`, `Make them pass with ${name} first.`);
    case 'completed':
      break;
  }
  if (report.results.some(({ status }) => status === 'passed')) return;
  const failure = report.results.find(({ status }) => status === 'failed');
  if (failure === undefined) throw badInput('Every test is skipped.', 'Enable some of the tests.');
  throw badInput(
    `Every test fails before anything was changed, first ${failure.id}: ${shortMessage(failure.message)}`,
    'Make them pass in a clean clone without a network first.',
  );
}
