import { describe, expect, it } from 'vitest';
import type { Grade } from '../../trajectory/grade.js';
import type { Task } from '../../trajectory/task.js';
import type { Trajectory } from '../../trajectory/trajectory.js';
import { rewardReport } from './rewardReport.js';

const grade: Grade = {
  reward: 0.32,
  resolved: false,
  components: {
    tests: { score: 0.5, weight: 1, reason: '1 of 2' },
    similarity: { score: -1, weight: 0.2 },
    'touched tests': { score: -1, weight: 0.1 },
  },
  tests: [
    { id: 'stays', before: 'passed', after: 'passed' },
    { id: 'mended', before: 'failed', after: 'failed' },
  ],
  files: [{ path: 'a.js', ratio: 0, reason: 'only the oracle changes it' }],
};
const trajectory = {
  taskId: 'sum',
  kind: 'rollout',
  sample: 1,
  step: 3,
  stopReason: 'submitted',
  infrastructureError: null,
  grade,
} as Trajectory;
const task = { FAIL_TO_PASS: ['mended'], PASS_TO_PASS: ['stays'] } as unknown as Task;

describe('the report of a reward', () => {
  it('says what each component gave of what it can give, penalties too', () => {
    const rows = rewardReport(trajectory, task, undefined).recorded!.components;
    expect(rows.map(({ name, gave, least, most }) => [name, gave, least, most])).toEqual([
      ['tests', 0.5, 0, 1],
      ['similarity', -0.2, -0.2, 0.2],
      ['touched tests', -0.1, -0.1, 0],
    ]);
  });

  it('puts the tests that do not pass first, and tells the lists apart', () => {
    const { tests } = rewardReport(trajectory, task, undefined).recorded!;
    expect(tests.map(({ id, list, isWrong }) => [id, list, isWrong])).toEqual([
      ['mended', 'FAIL_TO_PASS', true],
      ['stays', 'PASS_TO_PASS', false],
    ]);
  });

  it('has none of a trajectory that the machine failed, and says why', () => {
    const failed = { ...trajectory, grade: null, infrastructureError: 'disk full' };
    expect(rewardReport(failed, undefined, undefined)).toMatchObject({
      recorded: null,
      ended: 'disk full',
      hasTask: false,
    });
  });

  it('stands beside a grade that was made again', () => {
    expect(rewardReport(trajectory, task, { grade: { ...grade, reward: 1 }, before: new Map() }).again).toMatchObject({
      reward: 1,
    });
  });

  it('tells why a test failed before and after, where it was graded again', () => {
    const tests = [{ id: 'mended', before: 'failed', after: 'failed', message: 'got 2' } as const];
    const report = rewardReport(trajectory, task, {
      grade: { ...grade, tests },
      before: new Map([['mended', 'got 1']]),
    });
    expect(report.again!.tests).toMatchObject([{ id: 'mended', messageBefore: 'got 1', message: 'got 2' }]);
    expect(report.recorded!.tests[0]).toMatchObject({ messageBefore: '', message: '' });
  });

  it('has the beginning of what a test says at great length', () => {
    const message = 'x'.repeat(1_000_000);
    const again = { ...grade, tests: [{ id: 'mended', before: 'failed', after: 'failed', message } as const] };
    const [row] = rewardReport(trajectory, task, { grade: again, before: new Map([['mended', message]]) }).again!.tests;
    for (const text of [row.message, row.messageBefore]) expect(text).toBe(`${'x'.repeat(20_000)}…`);
  });
});
