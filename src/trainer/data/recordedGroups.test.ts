import { expect, it } from 'vitest';
import type { TrajectoryHeader } from '../run/runRecord.js';
import { recordedGroups } from './recordedGroups.js';

const header = (id: string, step: number, more: Partial<TrajectoryHeader> = {}): TrajectoryHeader => ({
  id,
  kind: 'rollout',
  step,
  taskId: 'task',
  sample: 0,
  reward: 0,
  resolved: false,
  stopReason: 'submitted',
  turns: 3,
  tokens: 30,
  seconds: 1,
  tools: [],
  infrastructureError: null,
  sandbox: 'bubblewrap',
  ...more,
});

it('holds branches only against their siblings, and whole episodes against one another, the newest ones', () => {
  const of = (trajectoryId: string, turn: number) => ({ origin: { trajectoryId, turn } });
  const headers = [
    header('expert', 0, { kind: 'demonstration' }),
    header('a', 1),
    header('b', 2),
    header('c', 2),
    header('later', 3),
    header('measured', 1, { kind: 'evaluation' }),
    header('other', 1, { taskId: 'other' }),
    header('a/turn-1/0', 1, of('a', 1)),
    header('a/turn-1/1', 1, of('a', 1)),
    header('a/turn-2/0', 1, of('a', 2)),
    header('b/turn-1/0', 2, of('b', 1)),
  ];
  expect(recordedGroups(headers, 'task', 3, 2).map(({ trajectoryIds }) => trajectoryIds)).toEqual([
    ['expert', 'b', 'c'],
    ['b/turn-1/0'],
    ['a/turn-1/0', 'a/turn-1/1'],
    ['a/turn-2/0'],
  ]);
});
