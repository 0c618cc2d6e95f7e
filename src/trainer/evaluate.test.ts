import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { infrastructure } from '../trajectory/errors.js';
import type { Task, TaskSplit } from '../trajectory/task.js';
import type { Trajectory } from '../trajectory/trajectory.js';
import { evaluate, evaluationTasks } from './evaluate.js';
import { loadCheckpoint } from './model/checkpoint.js';
import { scriptedArena, scriptedPlayer } from './rollout/scripted.testing.js';
import { parseSettings } from './run/settings.js';
import type { TextCodec } from './text/textCodec.js';
import { writeTinyPolicy } from './tinyPolicy.testing.js';

let codec: TextCodec;
beforeAll(async () => {
  const root = mkdtempSync(path.join(os.tmpdir(), 'whetstone-evaluate-'));
  ({ codec } = await loadCheckpoint(await writeTinyPolicy(root)));
  return () => rmSync(root, { recursive: true });
});

const taskOf = (id: string, split: TaskSplit) => ({ instance_id: id, whetstone: { split } }) as Task;
const tasks = [...['a', 'b', 'c', 'd'].map((id) => taskOf(id, 'heldout')), taskOf('e', 'train')];
const settings = parseSettings({});
const schedule = {
  concurrency: 1,
  signal: new AbortController().signal,
  gate: () => Promise.resolve(),
  onTrajectory: () => undefined,
};
const player = (turns: number) =>
  scriptedPlayer(codec, new Array<Int32Array>(turns).fill(codec.encodeTurn('I give up.'))).player;

describe('an evaluation', () => {
  it('counts successes among the episodes that the machine did not fail', async () => {
    const order = evaluationTasks(tasks, 'heldout', settings).map((task) => task.instance_id);
    const { arena } = scriptedArena(
      () => Promise.resolve({ observations: [], stopReason: 'no-tool-call' }),
      (task) => {
        if (task.instance_id === order[0]) return Promise.reject(infrastructure('No space.', 'Free some.'));
        const reward = task.instance_id === order[1] ? 1 : 0;
        return Promise.resolve({ reward, resolved: reward === 1, components: {}, tests: [], files: [] });
      },
    );
    const result = await evaluate(player(9), arena, tasks, 'heldout', settings, schedule);
    expect(result).toMatchObject({ step: 3, split: 'heldout', meanReward: 1 / 3, validCallRate: 1 });
    expect(result.success).toMatchObject({ rate: 1 / 3, n: 3 });
    expect(result.trajectoryIds).toEqual(order.map((id) => `eval-000003/${id}/0`));
  });

  it('does not play again what was recorded before', async () => {
    const { arena, counts } = scriptedArena(() => Promise.resolve({ observations: [], stopReason: 'no-tool-call' }));
    const recorded = new Map<string, Trajectory>();
    const keep = { ...schedule, onTrajectory: (trajectory: Trajectory) => recorded.set(trajectory.id, trajectory) };
    const first = await evaluate(player(4), arena, tasks, 'heldout', settings, keep);
    const find = (id: string) => Promise.resolve(recorded.get(id) ?? null);
    expect(await evaluate(player(0), arena, tasks, 'heldout', settings, schedule, find)).toEqual(first);
    expect(counts.started).toBe(4);
  });

  it('plays as many tasks of the split as the settings say, the same ones every time', () => {
    const few = { ...settings, evaluationTasks: 2 };
    const chosen = evaluationTasks(tasks, 'heldout', few).map((task) => task.instance_id);
    expect(chosen).toHaveLength(2);
    expect(evaluationTasks([...tasks].reverse(), 'heldout', few).map((task) => task.instance_id)).toEqual(chosen);
    expect(evaluationTasks(tasks, 'train', settings).map((task) => task.instance_id)).toEqual(['e']);
  });
});
