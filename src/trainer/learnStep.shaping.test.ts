import { describe, expect, it } from 'vitest';
import type { StopReason } from '../trajectory/trajectory.js';
import { groupAdvantages } from './algorithm/advantages.js';
import { learnStep } from './learnStep.js';
import { shapedReward } from './lessons.js';
import { parseSettings, type SettingsInput } from './run/settings.js';
import { rollout, samplerLogprob, ScriptedLearner } from './scriptedLearner.testing.js';

const settingsOf = (algorithm: SettingsInput['algorithm'], more: SettingsInput = {}) =>
  parseSettings({ klCoefficient: 0, maxTurns: 2, maxTokensPerTurn: 50, ...more, algorithm });
/** The learner gives half of the sampler's probability to every token. */
const halved = () => new ScriptedLearner(() => samplerLogprob + Math.log(0.5));
const same = () => new ScriptedLearner(() => samplerLogprob);
const stopped = (name: number, tokens: number, reward: number, stopReason: StopReason) => ({
  ...rollout(name, tokens, reward),
  stopReason,
});

describe('a step of learning', () => {
  it('takes what a long answer costs from its reward, and tells how much', async () => {
    const settings = settingsOf({ overlongBuffer: 4, overlongLength: 8, overlongFactor: 0.5 });
    const group = [rollout(0, 4, 1), rollout(1, 6, 1), rollout(2, 9, 1)];
    expect(group.map((one) => shapedReward(one, settings))).toEqual([1, 0.75, 0.5]);
    const { metrics, advantages } = await learnStep(same(), null, [group], settings, 1);
    expect(advantages).toEqual([groupAdvantages([1, 0.75, 0.5]).advantages]);
    expect(metrics['rewards/overlong/mean']).toBeCloseTo(-0.25, 12);
    expect(metrics.reward).toBe(1);
    expect(shapedReward(rollout(0, 9, 1), settingsOf({}))).toBe(1);
    expect(shapedReward(rollout(0, 9, null), settings)).toBeNull();
  });

  it('learns nothing from what a limit cut off, where that is masked; its reward counts', async () => {
    const group = [stopped(0, 2, 1, 'submitted'), stopped(1, 2, 0, 'turn-limit'), stopped(2, 2, 0.5, 'no-tool-call')];
    const learner = same();
    const { metrics, advantages } = await learnStep(learner, null, [group], settingsOf({ maskTruncated: true }), 1);
    expect(learner.given[0]).toHaveLength(2);
    expect(advantages).toEqual([groupAdvantages([1, 0, 0.5]).advantages]);
    expect(metrics['completions/clipped_ratio']).toBeCloseTo(1 / 3, 12);
    const all = same();
    await learnStep(all, null, [group], settingsOf({}), 1);
    expect(all.given[0]).toHaveLength(3);
  });

  it('counts groups of equal rewards, exactly', async () => {
    const groups = [
      [rollout(0, 1, 0.1 + 0.2), rollout(1, 1, 0.3)],
      [rollout(2, 1, 0.3), rollout(3, 1, 0.3)],
    ];
    const { metrics } = await learnStep(same(), null, groups, settingsOf({}), 1);
    expect(metrics).toMatchObject({ 'groups/played': 2, 'groups/equal_rewards': 1, frac_reward_zero_std: 0.5 });
  });

  it('averages over the groups that teach alone, where silent ones were made up for', async () => {
    const groups = () => [
      [rollout(0, 1, 1), rollout(1, 1, 0)],
      [rollout(2, 1, 1), rollout(3, 1, 1)],
    ];
    const [plain, dynamic] = [same(), same()];
    await learnStep(plain, null, groups(), settingsOf({}), 1);
    await learnStep(dynamic, null, groups(), settingsOf({ dynamicSampling: 1 }), 1);
    expect(dynamic.slopes()[0][0]).toBeCloseTo(2 * plain.slopes()[0][0], 6);
  });

  it('corrects replayed groups for the weights that sampled them, and its own not', async () => {
    const fresh = [rollout(0, 1, 1), rollout(1, 1, 0)].map((one) => ({ ...one, policyStep: 4 }));
    const old = [rollout(2, 1, 1), rollout(3, 1, 0)].map((one) => ({ ...one, policyStep: 1 }));
    const learner = halved();
    const result = await learnStep(learner, null, [fresh], settingsOf({}), 5, { replayed: [old] });
    const slopes = learner.slopes().map(([slope]) => slope);
    expect(slopes[2]).toBeCloseTo(slopes[0] / 2, 6);
    expect(slopes[3]).toBeCloseTo(slopes[1] / 2, 6);
    expect(result.advantages).toHaveLength(2);
    expect(result.learned).toHaveLength(4);
    // What older weights sampled says nothing about the sampler, nor about this step's rewards.
    expect(result.metrics['sampling/sampling_logp_difference/mean']).toBeCloseTo(Math.log(2), 6);
    expect(result.metrics['groups/played']).toBe(1);
    // Half of the tokens are of weights that are three steps older.
    expect(result.metrics).toMatchObject({ 'sampling/staleness/mean': 1.5, 'sampling/staleness/max': 3 });
    const alone = await learnStep(same(), null, [[rollout(0, 1, 0), rollout(1, 1, 0)]], settingsOf({}), 5, {
      replayed: [old],
    });
    expect(alone.metrics).toMatchObject({ 'updates/made': 1, 'sampling/staleness/mean': 3 });
    expect(alone.metrics).not.toHaveProperty('sampling/sampling_logp_difference/max');
  });

  it('corrects what was played ahead in the same way, and does not hold the age of its weights against the sampler', async () => {
    const group = (policyStep: number) => [rollout(0, 1, 1), rollout(1, 1, 0)].map((one) => ({ ...one, policyStep }));
    const [fresh, ahead, asked] = [halved(), halved(), halved()];
    await learnStep(fresh, null, [group(4)], settingsOf({}), 5);
    const { metrics } = await learnStep(ahead, null, [group(3)], settingsOf({}), 5);
    const correction = settingsOf({ importanceCorrection: 'token-truncate' });
    await learnStep(asked, null, [group(3)], correction, 5);
    expect(ahead.slopes()[0][0]).toBeCloseTo(fresh.slopes()[0][0] / 2, 6);
    expect(ahead.slopes()).toEqual(asked.slopes());
    expect(metrics).toMatchObject({ 'sampling/staleness/mean': 1, 'sampling/staleness/max': 1 });
    expect(metrics).not.toHaveProperty('sampling/sampling_logp_difference/mean');
  });

  it('scores every rollout at the temperature that it was sampled at', async () => {
    const group = [0.5, 1, 0.5].map((temperature, name) => ({ ...rollout(name, 1, name), temperature }));
    const learner = same();
    await learnStep(learner, same(), [group], settingsOf({}, { klCoefficient: 0.1 }), 1);
    expect(learner.temperatures).toEqual([0.5, 1, 0.5, 1]);
    expect(learner.given.map((lessons) => lessons.length)).toEqual([2, 1]);
  });
});
