import { describe, expect, it } from 'vitest';
import type { Task } from '../trajectory/task.js';
import type { Trajectory } from '../trajectory/trajectory.js';
import { planStep } from './data/stepPlan.js';
import { playStep } from './playStep.js';
import type { EpisodePlan } from './rollout/arena.js';
import { parseSettings, type SettingsInput } from './run/settings.js';
import { rollout } from './scriptedLearner.testing.js';

const ids = ['a', 'b', 'c', 'd'];
const tasks = new Map(ids.map((id) => [id, { instance_id: id, whetstone: { split: 'train' } } as Task]));

/** Plays a step in which the rollout of a plan has the reward that `rewardOf` says. */
async function play(more: SettingsInput, rewardOf: (plan: EpisodePlan) => number | null, isDynamic = true) {
  const settings = parseSettings({ tasksPerStep: 2, groupSize: 2, ...more });
  const plans: EpisodePlan[] = [];
  const rounds: string[][] = [];
  const groups = await playStep(planStep(ids, [], settings, 1), tasks, settings, isDynamic, {
    onRound: (_, chosen) => rounds.push(chosen.map(({ why }) => why)),
    play: (some) => {
      plans.push(...some);
      return Promise.resolve(some.map((plan): Trajectory => ({ ...rollout(0, 1, rewardOf(plan)), id: plan.id })));
    },
  });
  return { groups, plans, rounds };
}

const differing = ({ sample }: EpisodePlan) => sample % 2;

describe('playing a step', () => {
  it('plays the groups of the plan and no more where they teach', async () => {
    const { groups, plans, rounds } = await play({ algorithm: { dynamicSampling: 3 } }, differing);
    expect(groups).toHaveLength(2);
    expect(plans.map(({ id }) => id)).toEqual(
      groups.flatMap(({ taskId }) => [`step-000001/${taskId}/0`, `step-000001/${taskId}/1`]),
    );
    expect(rounds).toEqual([['its turn', 'its turn']]);
  });

  it('makes up for silent groups by the reserves, then by the same tasks anew, never by the same rollouts', async () => {
    const { groups, plans, rounds } = await play({ algorithm: { dynamicSampling: 2 } }, () => 0.5);
    expect(groups).toHaveLength(6);
    const played = groups.map(({ taskId }) => taskId);
    expect(new Set(played.slice(0, 4))).toEqual(new Set(ids));
    expect(played.slice(4)).toEqual(played.slice(0, 2));
    expect(new Set(plans.map(({ id }) => id)).size).toBe(12);
    expect(new Set(plans.map(({ seed }) => seed)).size).toBe(12);
    expect(rounds[1]).toEqual(['in place of a silent group', 'in place of a silent group']);
  });

  it('plays only as many new groups as were silent; one that the machine failed is silent', async () => {
    const { groups } = await play({ algorithm: { dynamicSampling: 5 } }, (plan) =>
      plan.task.instance_id === 'a' ? null : differing(plan),
    );
    expect(groups.length).toBe(groups.some(({ taskId }) => taskId === 'a') ? 3 : 2);
  });

  it('plays once where dynamic sampling is off, or the stage is another', async () => {
    expect((await play({}, () => 1)).groups).toHaveLength(2);
    expect((await play({ algorithm: { dynamicSampling: 2 } }, () => 1, false)).groups).toHaveLength(2);
  });

  it('gives the rollouts of a group temperatures around that of the step', async () => {
    const { plans } = await play({ temperature: 1, exploration: { temperatureSpread: 0.5 } }, differing);
    expect(plans.map(({ temperature }) => temperature)).toEqual([0.5, 1.5, 0.5, 1.5]);
  });

  it('forces tools on its rollouts as often as the step is to, and says nothing of it where it is not', async () => {
    const { plans } = await play({ exploration: { toolEpsilon: 0.25, toolEpsilonEnd: 0 } }, differing);
    expect(plans.map(({ toolEpsilon }) => toolEpsilon)).toEqual([0.25, 0.25, 0.25, 0.25]);
    expect((await play({}, differing)).plans.some((plan) => 'toolEpsilon' in plan)).toBe(false);
  });
});
