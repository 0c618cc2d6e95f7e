import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Trajectory } from '../trajectory/trajectory.js';
import { policyLossNames } from './algorithm/policyLosses.js';
import { learnStep } from './learnStep.js';
import { loadPolicy, type Policy } from './loadPolicy.js';
import { oneTurnRollout } from './oneTurnRollout.testing.js';
import { NodePath, trainingSequence } from './rollout/nodes.js';
import { parseSettings } from './run/settings.js';
import { writeTinyPolicy } from './tinyPolicy.testing.js';

let root: string;
let policy: Policy;
const settings = parseSettings({ device: 'cpu', deterministic: true, learningRate: 1e-3, klCoefficient: 0 });
beforeAll(async () => {
  root = mkdtempSync(path.join(os.tmpdir(), 'whetstone-learn-'));
  await writeTinyPolicy(root);
  return () => rmSync(root, { recursive: true });
});
beforeEach(async () => {
  policy = await loadPolicy({ ...settings, model: path.join(root, 'tiny policy') }, root);
});
afterEach(() => policy.dispose());

/** A rollout of one turn. Its log-probabilities are made up: the learner scores it anew. */
function rollout(sample: number, answer: string, reward: number | null): Trajectory {
  const nodes = new NodePath();
  nodes.addGiven({ role: 'user', content: 'add is wrong' }, policy.codec.encode('add is wrong'));
  const tokenIds = policy.codec.encodeTurn(answer);
  const message = policy.codec.parseTurn(tokenIds);
  const logprobs = new Float32Array(tokenIds.length).fill(-1);
  nodes.addSampled(message, { tokenIds, logprobs, entropies: logprobs.map(() => 1), finishReason: 'stop' });
  nodes.addGiven({ role: 'tool', toolCallId: '1', name: 'run', content: 'ok' }, policy.codec.encode('ok'));
  return oneTurnRollout(sample, nodes, reward);
}

async function meanLogprob(trajectory: Trajectory): Promise<number> {
  const [{ logprobs }] = await policy.learner.score([trainingSequence(trajectory)], 1);
  const own = [...logprobs].filter((value) => !Number.isNaN(value));
  return own.reduce((sum, value) => sum + value, 0) / own.length;
}

describe('a step of learning', () => {
  it('makes the better answer likelier and the worse one less likely', async () => {
    const [good, bad] = [rollout(0, 'yes, yes', 1), rollout(1, 'no!', 0)];
    const before = [await meanLogprob(good), await meanLogprob(bad)];
    const { metrics, advantages } = await learnStep(policy.learner, null, [[good, bad]], settings, 1);
    expect(await meanLogprob(good)).toBeGreaterThan(before[0]);
    expect(await meanLogprob(bad)).toBeLessThan(before[1]);
    expect(advantages[0][0]).toBeGreaterThan(0);
    expect(advantages[0][1]).toBe(-advantages[0][0]);
    expect(metrics).toMatchObject({ reward: 0.5, success: 0.5, frac_reward_zero_std: 0, 'updates/made': 1 });
    expect(metrics).toMatchObject({ 'tools/call_frequency': 4, 'tools/failure_frequency': 0.25, 'ratio/mean': 1 });
    expect(metrics.grad_norm).toBeGreaterThan(0);
    expect(Object.values(metrics).every(Number.isFinite)).toBe(true);
  });

  it('leaves the weights bit for bit where all rewards of each group are equal, the KL term included', async () => {
    const reference = await policy.openReference();
    // Away from the reference, so that a KL term would pull.
    const group = [rollout(0, 'yes, yes', 1), rollout(1, 'no!', 0)];
    const pulling = { ...settings, klCoefficient: 1 };
    await learnStep(policy.learner, reference, [group], pulling, 1);
    const before = await policy.learner.score(group.map(trainingSequence), 1);
    const equal = [rollout(0, 'yes, yes', 0.5), rollout(1, 'no!', 0.5)];
    const { metrics, learned } = await learnStep(policy.learner, reference, [equal], pulling, 2);
    expect(await policy.learner.score(group.map(trainingSequence), 1)).toEqual(before);
    expect(metrics).toMatchObject({ 'updates/made': 0, frac_reward_zero_std: 1 });
    expect(learned).toEqual([]);
    await reference.dispose();
  });

  it('learns nothing from a rollout that the machine failed, and is not misled by it', async () => {
    const group = [rollout(0, 'yes, yes', 1), rollout(1, 'no!', 0)];
    const { advantages: without } = await learnStep(policy.learner, null, [group], settings, 1);
    const failed = rollout(2, 'it failed', null);
    const { advantages, learned, metrics } = await learnStep(policy.learner, null, [[...group, failed]], settings, 2);
    expect(advantages[0]).toEqual([...without[0], 0]);
    expect(learned.map(({ trajectoryId }) => trajectoryId)).not.toContain(failed.id);
    expect(metrics['rollouts/infrastructure_failures']).toBe(1);
  });

  it('tells every token’s part: aligned with the trajectory, and nothing on tokens that were not sampled', async () => {
    const group = [rollout(0, 'yes, yes', 1), rollout(1, 'no!', 0)];
    const { learned } = await learnStep(policy.learner, null, [group], settings, 1);
    group.forEach((trajectory, index) => {
      const mask = trajectory.nodes.flatMap((node) => [...node.actionMask]);
      const { advantages, coefficients, learnerLogprobs, referenceLogprobs } = learned[index];
      expect(advantages).toHaveLength(mask.length);
      mask.forEach((bit, t) => {
        expect(advantages[t] !== 0).toBe(bit === 1);
        expect(coefficients[t] !== 0).toBe(bit === 1);
        expect(Number.isNaN(learnerLogprobs[t])).toBe(bit === 0);
        expect(referenceLogprobs[t]).toBeNaN();
      });
      const sign = index === 0 ? -1 : 1;
      expect(Math.sign(coefficients[mask.indexOf(1)])).toBe(sign);
    });
  });

  it('takes the same first step without a KL term as with one of weight 0 that scores beforehand', async () => {
    const group = [rollout(0, 'yes, yes', 1), rollout(1, 'no!', 0)];
    const reference = await policy.openReference();
    const scoredBefore = await learnStep(policy.learner, reference, [group], settings, 1);
    await reference.dispose();
    const again = await loadPolicy({ ...settings, model: path.join(root, 'tiny policy') }, root);
    const straight = await learnStep(again.learner, null, [group], settings, 1);
    await again.dispose();
    straight.learned.forEach(({ coefficients, learnerLogprobs }, index) => {
      expect(coefficients).toEqual(scoredBefore.learned[index].coefficients);
      learnerLogprobs.forEach((value, t) => {
        if (!Number.isNaN(value)) expect(value).toBeCloseTo(scoredBefore.learned[index].learnerLogprobs[t], 4);
      });
    });
  });

  it('stays close to the reference where the KL term is strong', async () => {
    const group = [rollout(0, 'yes, yes', 1), rollout(1, 'no!', 0)];
    const drift = async (klCoefficient: number) => {
      const learned = await loadPolicy({ ...settings, model: path.join(root, 'tiny policy') }, root);
      const reference = await learned.openReference();
      let kl = 0;
      for (let step = 1; step <= 8; step++) {
        const options = { ...settings, klCoefficient };
        kl = (await learnStep(learned.learner, reference, [group], options, step)).metrics.kl;
      }
      await reference.dispose();
      await learned.dispose();
      return kl;
    };
    expect(await drift(20)).toBeLessThan((await drift(0)) / 2);
  });

  it('clips from the second update on, where the ratio has left its range', async () => {
    const group = [rollout(0, 'yes, yes', 1), rollout(1, 'no!', 0)];
    const bold = { ...settings, iterations: 6, learningRate: 1e-2, clipLow: 0.05, clipHigh: 0.05 };
    const { metrics } = await learnStep(policy.learner, null, [group], bold, 1);
    expect(metrics['clip_ratio/region_mean']).toBeGreaterThan(0);
    expect(metrics['ratio/mean']).not.toBe(1);
  });

  it.each(policyLossNames)(
    'makes the better answer likelier and the worse one less likely by any loss: %s',
    async (loss) => {
      const group = [rollout(0, 'yes, yes', 1), rollout(1, 'no!', 0)];
      const before = [await meanLogprob(group[0]), await meanLogprob(group[1])];
      const algorithm = { ...settings.algorithm, loss, advantage: 'rloo' as const };
      const { metrics } = await learnStep(policy.learner, null, [group], { ...settings, algorithm, iterations: 2 }, 1);
      expect(await meanLogprob(group[0])).toBeGreaterThan(before[0]);
      expect(await meanLogprob(group[1])).toBeLessThan(before[1]);
      expect(Object.values(metrics).every(Number.isFinite)).toBe(true);
    },
  );

  it('makes the policy less certain where entropy is rewarded', async () => {
    const group = [rollout(0, 'yes, yes', 1), rollout(1, 'no!', 0)];
    const entropyAfter = async (entropyCoefficient: number) => {
      const learned = await loadPolicy({ ...settings, model: path.join(root, 'tiny policy') }, root);
      const algorithm = { ...settings.algorithm, entropyCoefficient };
      await learnStep(learned.learner, null, [group], { ...settings, algorithm }, 1);
      const scores = await learned.learner.score(group.map(trainingSequence), 1);
      await learned.dispose();
      const entropies = scores.flatMap((each) => [...each.entropies].filter((entropy) => !Number.isNaN(entropy)));
      return entropies.reduce((sum, entropy) => sum + entropy, 0) / entropies.length;
    };
    expect(await entropyAfter(10)).toBeGreaterThan(await entropyAfter(0));
  });

  it('refuses a trajectory whose action mask is wrong', async () => {
    const good = rollout(0, 'yes, yes', 1);
    const bad = { ...good, nodes: good.nodes.map((node) => ({ ...node, actionMask: node.actionMask.map(() => 1) })) };
    await expect(learnStep(policy.learner, null, [[bad, bad]], settings, 1)).rejects.toThrow(/action mask/);
  });
});
