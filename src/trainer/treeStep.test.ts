import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Grade } from '../trajectory/grade.js';
import type { Task } from '../trajectory/task.js';
import type { Trajectory } from '../trajectory/trajectory.js';
import { rlooAdvantages } from './algorithm/rloo.js';
import { planStep } from './data/stepPlan.js';
import { learnStep } from './learnStep.js';
import { loadPolicy, type Policy } from './loadPolicy.js';
import type { Learner, SequenceCoefficients, TrainingSequence } from './model/policy.js';
import { playStep } from './playStep.js';
import type { EpisodePlan } from './rollout/arena.js';
import { samplingOptions } from './rollout/environmentArena.js';
import { playGroups } from './rollout/playGroups.js';
import { answer, scriptedArena } from './rollout/scripted.testing.js';
import { parseSettings, type SettingsInput } from './run/settings.js';
import { writeTinyPolicy } from './tinyPolicy.testing.js';

const ids = ['a', 'b'];
const tasks = new Map(ids.map((id) => [id, { instance_id: id, whetstone: { split: 'train' } } as Task]));
const settingsOf = (more: SettingsInput = {}) =>
  parseSettings({
    model: path.join(root, 'tiny policy'),
    ...{ device: 'cpu', deterministic: true, klCoefficient: 0, tasksPerStep: 2, groupSize: 2, maxTokensPerTurn: 12 },
    ...more,
    algorithm: { advantage: 'rloo', pivots: 1, continuations: 2, ...more.algorithm },
  });

let root: string;
let policy: Policy;
beforeAll(async () => {
  root = mkdtempSync(path.join(os.tmpdir(), 'whetstone tree '));
  await writeTinyPolicy(root);
  policy = await loadPolicy(settingsOf(), root);
});
afterAll(async () => {
  await policy.dispose();
  rmSync(root, { recursive: true });
});

/** Plays a step of episodes of four turns, whose rewards differ; what is recorded is not played again. */
async function play(
  more: SettingsInput = {},
  recorded = new Map<string, Trajectory>(),
  isPolicyGradient = true,
  rewardOf = (nth: number) => (nth * 0.37) % 1,
) {
  const settings = settingsOf(more);
  // A random policy makes no call; whatever it says, it is answered.
  let graded = 0;
  const { arena, counts } = scriptedArena(
    (_message, turn) =>
      Promise.resolve({
        observations: [answer('call-0', `turn ${turn}`)],
        stopReason: turn === 4 ? 'turn-limit' : null,
      }),
    (): Promise<Grade> => {
      const reward = rewardOf(graded++);
      return Promise.resolve({ reward, resolved: reward > 0.5, components: {}, tests: [], files: [] });
    },
  );
  const plans: EpisodePlan[] = [];
  const schedule = {
    concurrency: 1,
    signal: new AbortController().signal,
    gate: () => Promise.resolve(),
    onTrajectory: () => undefined,
  };
  const player = { generator: policy.generator, codec: policy.codec, policyStep: 0 };
  const groups = await playStep(planStep(ids, [], settings, 1), tasks, settings, isPolicyGradient, {
    onRound: () => undefined,
    play: (some) => {
      plans.push(...some);
      return playGroups(player, arena, some, samplingOptions(settings, 'rollout'), schedule, (id) =>
        Promise.resolve(recorded.get(id) ?? null),
      );
    },
  });
  return { settings, groups: groups.map(({ trajectories }) => trajectories), plans, counts };
}

/** The learner, and what it is given. */
function watched(learner: Learner) {
  const given: { sequences: readonly TrainingSequence[]; coefficients: readonly SequenceCoefficients[] }[] = [];
  const watching: Learner = {
    score: (sequences, temperature) => learner.score(sequences, temperature),
    accumulate: (sequences, coefficients, temperature) => {
      given.push({ sequences, coefficients });
      return learner.accumulate(sequences, coefficients, temperature);
    },
    step: (options) => learner.step(options),
    save: (folder, options) => learner.save(folder, options),
    load: (folder, options) => learner.load(folder, options),
    dispose: () => learner.dispose(),
  };
  return { watching, given };
}

describe('a step with tree rollouts', () => {
  it('plays on from the pivots of each group, with numbers and seeds of their own', async () => {
    const { groups, plans } = await play();
    expect(groups.map((group) => group.length)).toEqual([4, 4]);
    for (const group of groups) {
      const [first, second, ...branches] = group;
      expect(group.map(({ sample }) => sample)).toEqual([0, 1, 2, 3]);
      const parent = branches[0]!.origin!.trajectoryId === first!.id ? first! : second!;
      const { turn, nodes } = branches[0]!.origin!;
      expect(branches.map(({ id }) => id)).toEqual([0, 1].map((k) => `${parent.id}/turn-${turn}/pivot-${k}`));
      for (const branch of branches) {
        expect(branch).toMatchObject({ kind: 'rollout', step: 1, taskId: first!.taskId, temperature: 1 });
        expect(branch.nodes.slice(0, nodes)).toEqual(parent.nodes.slice(0, nodes));
        expect(branch.statistics.turns).toBe(4);
      }
    }
    expect(new Set(plans.map(({ id }) => id)).size).toBe(8);
    expect(new Set(plans.map(({ seed }) => seed)).size).toBe(8);
  });

  it('plays the same again where it was interrupted, and nothing twice', async () => {
    const whole = await play();
    const all = whole.groups.flat();
    for (const known of [all.slice(0, 2), all.slice(0, 3), all]) {
      const recorded = new Map(known.map((trajectory) => [trajectory.id, trajectory]));
      const { plans, counts } = await play({}, recorded);
      expect(plans.map(({ id, seed }) => [id, seed])).toEqual(whole.plans.map(({ id, seed }) => [id, seed]));
      expect(counts.started).toBe(all.length - known.length);
    }
  });

  it('plays no branches where it learns otherwise, or nobody asked', async () => {
    expect((await play({}, new Map(), false)).plans).toHaveLength(4);
    expect((await play({ algorithm: { pivots: 0 } })).plans).toHaveLength(4);
    expect((await play({ algorithm: { macroTurns: 4 } })).plans).toHaveLength(4);
  });

  it('makes up for silent groups by groups whose numbers are free', async () => {
    const { plans, groups } = await play(
      { algorithm: { dynamicSampling: 1, macroTurns: 2 } },
      new Map(),
      true,
      () => 0.5,
    );
    expect(groups.map((group) => group.length)).toEqual([4, 4, 4, 4]);
    const samples = plans.map(({ task, sample }) => `${task.instance_id} ${sample}`);
    expect(new Set(samples).size).toBe(samples.length);
  });

  it('learns each token once, its siblings held against each other only where they part', async () => {
    const { groups, settings } = await play();
    const { watching, given } = watched(policy.learner);
    const { learned, metrics, advantages } = await learnStep(watching, null, groups, settings, 1);
    expect(given).toHaveLength(1);
    const [{ sequences, coefficients }] = given as [(typeof given)[0]];
    expect(sequences).toHaveLength(8);
    const all = groups.flat();
    let masked = 0;
    groups.forEach((group, index) => {
      const branches = group.filter(({ origin }) => origin !== undefined);
      const { trajectoryId, nodes: shared } = branches[0]!.origin!;
      const parent = group.findIndex(({ id }) => id === trajectoryId);
      const rewards = group.map(({ grade }) => grade!.reward);
      const siblings = [parent, 2, 3];
      const value = siblings.reduce((sum, one) => sum + rewards[one]!, 0) / 3;
      const tops = rlooAdvantages([0, 1].map((one) => (one === parent ? value : rewards[one]!))).advantages;
      const tails = rlooAdvantages(siblings.map((one) => rewards[one]!)).advantages;
      group.forEach((trajectory, at) => {
        const sequence = sequences[4 * index + at]!;
        const own = sequence.actionMask.reduce((sum, bit) => sum + bit, 0);
        masked += own;
        const nodeOf = trajectory.nodes.flatMap(({ tokenIds }, node) => Array.from(tokenIds, () => node));
        sequence.actionMask.forEach((bit, t) => {
          const tail = siblings.indexOf(at);
          const isBehind = tail >= 0 && nodeOf[t]! >= shared;
          const advantage = bit === 0 ? 0 : isBehind ? tails[tail]! : tops[at]!;
          if (at > 1 && nodeOf[t]! < shared) expect(bit).toBe(0);
          // The GRPO loss of a first update: -A / (tokens of the rollout) / (rollouts).
          const { logprobs } = coefficients[4 * index + at]!;
          expect(logprobs[t]).toBeCloseTo((bit * -advantage) / own / all.length, 7);
          const told = learned.find((one) => one.trajectoryId === trajectory.id)!;
          expect(told.advantages[t]).toBeCloseTo(advantage, 6);
        });
      });
    });
    // Every node of the trees once, whoever shares it.
    const sampled = all
      .flatMap(({ nodes, origin }) => nodes.slice(origin?.nodes ?? 0))
      .flatMap((n) => [...n.actionMask]);
    expect(masked).toBe(sampled.reduce((sum, bit) => sum + bit, 0));
    expect(advantages.map((group) => group.length)).toEqual([4, 4]);
    const roots = all.filter(({ origin }) => origin === undefined);
    const mean = roots.reduce((sum, { grade }) => sum + grade!.reward, 0) / roots.length;
    expect(metrics).toMatchObject({ 'branches/played': 4, 'branches/pivots': 2, 'branches/equal_rewards': 0 });
    expect(metrics.reward).toBeCloseTo(mean, 12);
  });
});
