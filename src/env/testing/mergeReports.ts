import type { TestReport } from './testRunner.js';

/** The worst first: what one runner did not bring to its end is missing in the whole. */
const outcomes: readonly TestReport['outcome'][] = ['timed-out', 'crashed', 'completed', 'no-tests'];

/** One report of the runs of several runners, in their order. */
export function mergeReports(reports: readonly TestReport[]): TestReport {
  if (reports.length === 0) {
    return { outcome: 'no-tests', results: [], output: 'None of the test files exists.', durationMs: 0 };
  }
  return {
    outcome: outcomes.find((outcome) => reports.some((report) => report.outcome === outcome)) ?? 'no-tests',
    results: reports.flatMap(({ results }) => results),
    output: reports.map(({ output }) => output).join('\n'),
    durationMs: reports.reduce((sum, { durationMs }) => sum + durationMs, 0),
  };
}
