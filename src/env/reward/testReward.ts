import type { Grade, TestStatus } from '../../trajectory/grade.js';
import type { Task } from '../../trajectory/task.js';
import type { TestReport } from '../testing/testRunner.js';

export interface TestReward {
  /** FAIL_TO_PASS rate x PASS_TO_PASS rate, in [0, 1]. */
  readonly graded: number;
  /** Share of all the task's tests that pass, in [0, 1]. */
  readonly fraction: number;
  readonly resolved: boolean;
  readonly tests: Grade['tests'];
  readonly reason: string;
}

/** Statuses of the task's tests in the start tree, as the task's validation found them. */
export function testsOfStartTree(task: Task): Map<string, TestStatus> {
  return new Map([
    ...task.FAIL_TO_PASS.map((id) => [id, 'failed'] as const),
    ...task.PASS_TO_PASS.map((id) => [id, 'passed'] as const),
  ]);
}

/** Statuses by test id; a run without complete results tells nothing of any test. */
export function testsOfReport(report: Pick<TestReport, 'outcome' | 'results'>): Map<string, TestStatus> {
  return new Map(report.outcome === 'completed' ? report.results.map(({ id, status }) => [id, status]) : []);
}

/**
 * Test reward (requirement R2). Only `passed` counts as passed: a test that is missing or skipped has failed, and so has
 * a task without FAIL_TO_PASS tests.
 */
export function testReward(task: Task, after: ReadonlyMap<string, TestStatus>): TestReward {
  const before = testsOfStartTree(task);
  const tests = [...before].map(([id, status]) => ({ id, before: status, after: after.get(id) ?? 'missing' }) as const);
  const passed = (ids: readonly string[]) => ids.filter((id) => after.get(id) === 'passed').length;
  const fixed = passed(task.FAIL_TO_PASS);
  const kept = passed(task.PASS_TO_PASS);
  const wanted = task.FAIL_TO_PASS.length;
  const guarded = task.PASS_TO_PASS.length;
  return {
    graded: wanted === 0 ? 0 : (fixed / wanted) * (guarded === 0 ? 1 : kept / guarded),
    fraction: wanted === 0 ? 0 : (fixed + kept) / (wanted + guarded),
    resolved: wanted > 0 && fixed === wanted && kept === guarded,
    tests,
    reason: `${fixed} of ${wanted} failing tests fixed, ${kept} of ${guarded} passing tests kept`,
  };
}
