import { describe, expect, it } from 'vitest';
import { groupAdvantages } from './algorithm/advantages.js';
import { generalizedAdvantages } from './algorithm/gae.js';
import { whiten } from './algorithm/whiten.js';
import { learnStep } from './learnStep.js';
import { parseSettings, type SettingsInput } from './run/settings.js';
import { rollout, samplerLogprob, ScriptedLearner } from './scriptedLearner.testing.js';

const settingsOf = (algorithm: SettingsInput['algorithm'], more: SettingsInput = {}) =>
  parseSettings({ klCoefficient: 0, ...more, algorithm: { advantage: 'gae', loss: 'dapo', ...algorithm } });

const stateValue = (name: number, t: number) => (name + 1) / 4 - t / 8;
/** A critic that says something of every token, and moves by a half with each update. */
const criticized = (logprob = samplerLogprob) =>
  new ScriptedLearner(
    () => logprob,
    (name, t, updates) => stateValue(name, t) + updates / 2,
  );
const lengths = [2, 3, 1];
const rewards = [1, 0, 0.5];
const group = () => lengths.map((length, name) => rollout(name, length, rewards[name]));

/** GAE of the group: advantages and returns of the sampled tokens. */
function wanted(gamma: number, lambda: number) {
  return lengths.map((length, name) => {
    const earned = Float64Array.from({ length }, (_, t) => (t === length - 1 ? rewards[name] : 0));
    const values = earned.map((_, t) => stateValue(name, t));
    return generalizedAdvantages(earned, values, new Uint8Array(length).fill(1), { gamma, lambda });
  });
}
const close = (found: readonly (readonly number[])[], expected: readonly ArrayLike<number>[]) => {
  expect(found.map((row) => row.length)).toEqual(expected.map((row) => row.length));
  found.forEach((row, i) => row.forEach((value, t) => expect(value).toBeCloseTo(expected[i][t], 6)));
};
const ofCritic = (learner: ScriptedLearner, update = 0) =>
  learner.given[update].map(({ stateValues }) => [...stateValues!.subarray(2)]);

describe('a step of PPO', () => {
  it('descends on whitened GAE and on the value loss, with a learning rate of its own for the critic', async () => {
    const learner = criticized();
    const settings = settingsOf({ gamma: 0.9, lambda: 0.5, valueCoefficient: 0.25, valueLearningRate: 0.5 });
    const { metrics, learned } = await learnStep(learner, null, [group()], settings, 1);
    const estimates = wanted(0.9, 0.5);
    const whole = whiten(
      estimates.map(({ advantages }) => advantages),
      lengths.map((length) => new Uint8Array(length).fill(1)),
    );
    close(
      learner.slopes(),
      whole.map((each) => each.map((value) => -value / 6)),
    );
    close(
      ofCritic(learner),
      estimates.map(({ returns }, name) => returns.map((value, t) => (0.25 * (stateValue(name, t) - value)) / 6)),
    );
    expect(learner.steps[0]).toMatchObject({ learningRate: settings.learningRate, valueLearningRate: 0.5 });
    const loss = estimates.reduce(
      (sum, { returns }, name) => returns.reduce((total, value, t) => total + (stateValue(name, t) - value) ** 2, sum),
      0,
    );
    expect(metrics['critic/vf_loss']).toBeCloseTo(loss / 12, 6);
    expect(metrics['critic/vf_clipfrac']).toBe(0);
    expect(Object.values(metrics).every(Number.isFinite)).toBe(true);
    close([[...learned[0].advantages.subarray(2)]], [whole[0]]);
  });

  it('holds values in later updates to what they were before the first', async () => {
    const learner = criticized();
    const settings = settingsOf({ lambda: 1, valueClip: 0.2, valueCoefficient: 1 }, { iterations: 2 });
    await learnStep(learner, null, [group()], settings, 1);
    // Half a unit away: those that moved towards their return, and beyond the clip, get no gradient.
    const expected = wanted(1, 1).map(({ returns }, name) =>
      returns.map((value, t) => {
        const [now, cut] = [stateValue(name, t) + 0.5, stateValue(name, t) + 0.2];
        return (cut - value) ** 2 > (now - value) ** 2 ? 0 : (now - value) / 6;
      }),
    );
    expect(expected.some((each) => each.includes(0))).toBe(true);
    close(ofCritic(learner, 1), expected);
  });

  it('credits turns with the comparison and with their scores with `scored-turns`, not whitened', async () => {
    const learner = criticized();
    const settings = settingsOf({ advantage: 'scored-turns', stepWeight: 0.5, valueCoefficient: 1 });
    const { advantages } = await learnStep(learner, null, [group()], settings, 1);
    const compared = groupAdvantages(rewards).advantages;
    // Rollouts of one turn: its score is the reward less the value at its first token.
    const scores = rewards.map((reward, name) => reward - stateValue(name, 0));
    close(advantages, [compared.map((each, name) => each + 0.5 * scores[name])]);
    close(
      ofCritic(learner),
      lengths.map((length, name) => Array.from({ length }, (_, t) => (t === 0 ? -scores[name] / 3 : 0))),
    );
    // Where all came to the same, the scores still tell their turns apart.
    const equal = await learnStep(
      criticized(),
      null,
      [lengths.map((length, name) => rollout(name, length, 1))],
      settings,
      1,
    );
    close(equal.advantages, [lengths.map((_, name) => 0.5 * (1 - stateValue(name, 0)))]);
  });

  it('values whole turns with `turn-gae`, which share their advantage', async () => {
    const learner = criticized();
    const settings = settingsOf({ advantage: 'turn-gae', turnDiscount: 0.5, valueCoefficient: 1 });
    const { advantages } = await learnStep(learner, null, [group()], settings, 1);
    // Rollouts of one turn: the return is the reward, held against the value at the first token.
    const plain = rewards.map((reward, name) => reward - stateValue(name, 0));
    close(
      ofCritic(learner),
      lengths.map((length, name) => Array.from({ length }, (_, t) => (t === 0 ? -plain[name] / 3 : 0))),
    );
    const [whole] = advantages;
    expect([...whole].sort((a, b) => a - b)).toEqual(
      [...plain.keys()].sort((a, b) => plain[a] - plain[b]).map((i) => whole[i]),
    );
    learner.slopes().forEach((slopes) => expect(new Set(slopes).size).toBe(1));
  });

  it('learns from groups of equal rewards too, what the critic has yet to learn; failures of the machine teach nothing', async () => {
    const learner = criticized();
    const equal = [rollout(0, 2, 0.3), rollout(1, 3, 0.3), rollout(2, 1, null)];
    const { advantages } = await learnStep(learner, null, [equal], settingsOf({}), 1);
    expect(learner.given[0]).toHaveLength(2);
    expect(advantages[0][2]).toBe(0);
  });

  it('takes a KL term in the reward from the tokens that cost it', async () => {
    const settings = settingsOf(
      { klPlace: 'reward', klEstimator: 'k1', lambda: 1, valueCoefficient: 1 },
      { klCoefficient: 0.5 },
    );
    const learner = criticized();
    const reference = new ScriptedLearner(() => samplerLogprob - 0.25);
    await learnStep(learner, reference, [group()], settings, 1);
    close(
      ofCritic(learner),
      lengths.map((length, name) =>
        Array.from({ length }, (_, t) => (stateValue(name, t) - (rewards[name] - 0.125 * (length - t))) / 6),
      ),
    );
  });
});

describe('V-trace', () => {
  const ratio = 0.5;
  const vtraced = settingsOf({ importanceCorrection: 'v-trace', lambda: 1, valueCoefficient: 1 });

  it('is GAE, not whitened, where the sampler is the learner', async () => {
    const learner = criticized();
    await learnStep(learner, null, [group()], vtraced, 1);
    const estimates = wanted(1, 1);
    close(
      ofCritic(learner),
      estimates.map(({ returns }, name) => returns.map((value, t) => (stateValue(name, t) - value) / 6)),
    );
    // A_t = r_t + gamma v_t+1 - V_t: with lambda 1 the advantages of GAE.
    close(
      learner.slopes(),
      estimates.map(({ advantages }) => advantages.map((value) => -value / 6)),
    );
  });

  it('weighs what an older policy played, in the values and in the advantages, and nothing weighs it twice', async () => {
    const learner = criticized(samplerLogprob + Math.log(ratio));
    const { metrics } = await learnStep(learner, null, [], vtraced, 1, { replayed: [group()] });
    // The last token: v = V + rho (r - V), A = rho (r - V).
    lengths.forEach((length, name) => {
      const last = length - 1;
      const difference = rewards[name] - stateValue(name, last);
      expect(learner.slopes()[name][last]).toBeCloseTo((-ratio * difference) / 6, 6);
      expect(ofCritic(learner)[name][last]).toBeCloseTo((-ratio * difference) / 6, 6);
    });
    expect(metrics['sampling/importance_sampling_ratio/mean']).toBeUndefined();
  });
});
