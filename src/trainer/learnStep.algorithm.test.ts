import { describe, expect, it } from 'vitest';
import { comparingEstimatorNames, isTurnEstimator } from './algorithm/advantageEstimators.js';
import { groupAdvantages } from './algorithm/advantages.js';
import { drGrpoAdvantages } from './algorithm/drGrpo.js';
import { klEstimators } from './algorithm/kl.js';
import { rlooAdvantages } from './algorithm/rloo.js';
import { learnStep } from './learnStep.js';
import { parseSettings, type SettingsInput } from './run/settings.js';
import { rollout, samplerLogprob, ScriptedLearner } from './scriptedLearner.testing.js';

const steady = () => new ScriptedLearner((name, t) => samplerLogprob - (name + t) / 8);
/** After the first update half of the tokens are 1.5 times as likely, the others half as likely. */
const moving = () =>
  new ScriptedLearner((_, t, updates) => -1 + (updates === 0 ? 0 : Math.log(t % 2 === 0 ? 1.5 : 0.5)));
const reference = () => new ScriptedLearner((name, t) => samplerLogprob - (name - t) / 4);

const settingsOf = (algorithm: SettingsInput['algorithm'], more: SettingsInput = {}) =>
  parseSettings({ klCoefficient: 0, maxTurns: 2, maxTokensPerTurn: 50, ...more, algorithm });

const close = (found: readonly (readonly number[])[], wanted: readonly (readonly number[])[]) => {
  expect(found.map((row) => row.length)).toEqual(wanted.map((row) => row.length));
  found.forEach((row, i) => row.forEach((value, t) => expect(value).toBeCloseTo(wanted[i][t], 6)));
};

/** Two groups that teach, of trajectories of 1 to 3 tokens. */
const rewards = [
  [1, 0, 0.25],
  [0, 0.5],
];
const groups = () => [
  [rollout(0, 1, 1), rollout(1, 2, 0), rollout(2, 3, 0.25)],
  [rollout(3, 2, 0), rollout(4, 2, 0.5)],
];
const lengths = [1, 2, 3, 2, 2];
/** A pair of which the better one is named 0, the worse one 1; of 2 tokens each. */
const pair = () => [[rollout(0, 2, 1), rollout(1, 2, 0)]];
/** Its advantages, of GRPO, are this and its opposite. */
const ofPair = 0.5 / (Math.SQRT1_2 + 1e-4);

describe('a step of learning holds rewards against', () => {
  it.each([
    ['grpo', groupAdvantages],
    ['dr-grpo', drGrpoAdvantages],
    ['rloo', rlooAdvantages],
  ] as const)('their group: %s', async (advantage, advantagesOf) => {
    const learner = steady();
    const { advantages } = await learnStep(learner, null, groups(), settingsOf({ advantage }), 1);
    const wanted = rewards.map((group) => [...advantagesOf(group).advantages]);
    expect(advantages).toEqual(wanted);
    const slopes = wanted.flat().map((value, i) => new Array<number>(lengths[i]).fill(-value / 5 / lengths[i]));
    close(learner.slopes(), slopes);
  });

  it('the whole step: reinforce++', async () => {
    const { advantages } = await learnStep(steady(), null, groups(), settingsOf({ advantage: 'reinforce++' }), 1);
    // Over tokens: 1 of reward 1, 2 of 0, 3 of 0.25, 2 of 0, 2 of 0.5.
    const tokens = rewards.flat().flatMap((reward, i) => new Array<number>(lengths[i]).fill(reward));
    const mean = tokens.reduce((sum, reward) => sum + reward, 0) / 10;
    const deviation = Math.sqrt(tokens.reduce((sum, reward) => sum + (reward - mean) ** 2, 0) / 9);
    close(
      advantages,
      rewards.map((group) => group.map((reward) => (reward - mean) / deviation)),
    );
  });

  it('their group, and then the whole step: reinforce++-baseline', async () => {
    const settings = settingsOf({ advantage: 'reinforce++-baseline' });
    const { advantages } = await learnStep(steady(), null, groups(), settings, 1);
    const centred = rewards.map((group) => [...drGrpoAdvantages(group).advantages]);
    const tokens = centred.flat().flatMap((value, i) => new Array<number>(lengths[i]).fill(value));
    const mean = tokens.reduce((sum, value) => sum + value, 0) / 10;
    const deviation = Math.sqrt(tokens.reduce((sum, value) => sum + (value - mean) ** 2, 0) / 9);
    close(
      advantages,
      centred.map((group) => group.map((value) => (value - mean) / deviation)),
    );
  });

  it.each(comparingEstimatorNames)('nothing where all are equal, the other terms included: %s', async (advantage) => {
    const learner = steady();
    const settings = settingsOf({ advantage, entropyCoefficient: 1 }, { klCoefficient: 1 });
    const equal = [[rollout(0, 2, 0.3), rollout(1, 3, 0.3), rollout(2, 1, null)]];
    const { metrics, advantages, learned } = await learnStep(learner, reference(), equal, settings, 1);
    expect(learner.given).toEqual([]);
    expect(learned).toEqual([]);
    expect(advantages).toEqual([[0, 0, 0]]);
    expect(metrics['updates/made']).toBe(0);
  });

  it.each(comparingEstimatorNames.filter((name) => name !== 'reinforce++'))(
    'nothing in a group that is equal beside one that is not: %s',
    async (advantage) => {
      const learner = steady();
      const klPlace = isTurnEstimator(advantage) ? 'loss' : 'reward';
      const settings = settingsOf({ advantage, klPlace }, { klCoefficient: 1 });
      const mixed = [[rollout(0, 2, 0.3), rollout(1, 3, 0.3)], ...pair()];
      const { advantages, learned } = await learnStep(learner, reference(), mixed, settings, 1);
      expect(advantages[0]).toEqual([0, 0]);
      expect(learned).toHaveLength(2);
    },
  );

  it('the whole step, so that a group which always fails is worse than the rest: reinforce++', async () => {
    const always = [rollout(2, 2, 0), rollout(3, 2, 0)];
    const { advantages, learned } = await learnStep(
      steady(),
      null,
      [always, ...pair()],
      settingsOf({ advantage: 'reinforce++' }),
      1,
    );
    expect(learned).toHaveLength(4);
    expect(advantages[0][0]).toBeLessThan(0);
    expect(advantages[0]).toEqual([advantages[1][1], advantages[1][1]]);
  });
});

describe('a step of learning averages its loss', () => {
  const advantages = rewards.flatMap((group) => [...groupAdvantages(group).advantages]);
  it.each([
    ['grpo', (i: number) => 1 / 5 / lengths[i]],
    ['gspo', (i: number) => 1 / 5 / lengths[i]],
    ['dr-grpo', () => 1 / 5 / 100],
    ['dapo', () => 1 / 10],
    ['cispo', () => 1 / 10],
  ] as const)('as %s does', async (loss, share) => {
    const learner = steady();
    const { metrics } = await learnStep(learner, null, groups(), settingsOf({ loss }), 1);
    close(
      learner.slopes(),
      advantages.map((value, i) => new Array<number>(lengths[i]).fill(-value * share(i))),
    );
    expect(Object.values(metrics).every(Number.isFinite)).toBe(true);
  });

  it('over trajectories and tokens of groups that teach nothing, too', async () => {
    const learner = steady();
    const silent = [rollout(5, 4, 1), rollout(6, 6, 1)];
    await learnStep(learner, null, [...groups(), silent], settingsOf({ loss: 'dapo' }), 1);
    close(
      learner.slopes(),
      advantages.map((value, i) => new Array<number>(lengths[i]).fill(-value / 20)),
    );
  });
});

describe('a step of learning with more than one update', () => {
  const second = async (algorithm: SettingsInput['algorithm'], more: SettingsInput = {}) => {
    const learner = moving();
    const settings = settingsOf(algorithm, { iterations: 2, clipLow: 0.2, clipHigh: 0.2, ...more });
    const { metrics } = await learnStep(learner, null, pair(), settings, 1);
    return { slopes: learner.slopes(1).map((row) => row.map((value) => value / (ofPair / 4))), metrics };
  };

  it('clips each token: grpo', async () => {
    const { slopes, metrics } = await second({ loss: 'grpo' });
    close(slopes, [
      [0, -0.5],
      [1.5, 0],
    ]);
    expect(metrics).toMatchObject({ 'clip_ratio/region_mean': 2 / 8, 'clip_ratio/low_mean': 1 / 8 });
    expect(metrics).toMatchObject({
      'clip_ratio/high_mean': 1 / 8,
      'clip_ratio/high_max': 1 / 2,
      'clip_ratio/low_min': 0,
    });
  });

  it.each([
    [
      { clipHigh: 0.6 },
      [
        [-1.5, -0.5],
        [1.5, 0],
      ],
    ],
    [
      { clipLow: 0.6 },
      [
        [0, -0.5],
        [1.5, 0.5],
      ],
    ],
  ])('clips with two bounds that are chosen apart: %j', async (bounds, wanted) => {
    close((await second({ loss: 'grpo' }, bounds)).slopes, wanted);
  });

  it('bounds the ratio of bad tokens: dual clip', async () => {
    const { slopes, metrics } = await second({ dualClip: 1.4 });
    close(slopes, [
      [0, -0.5],
      [0, 0],
    ]);
    expect(metrics['actor/pg_clipfrac_lower']).toBe(1 / 8);
  });

  it('has one ratio for the trajectory: gspo', async () => {
    const ratio = Math.sqrt(1.5 * 0.5);
    close((await second({ loss: 'gspo' })).slopes, [
      [-ratio, -ratio],
      [ratio, ratio],
    ]);
  });

  it('cuts weights but keeps gradients: cispo', async () => {
    close((await second({ loss: 'cispo' })).slopes, [
      [-1.2, -0.8],
      [1.2, 0.8],
    ]);
  });
});

describe('the KL term of a step', () => {
  const logprob = (name: number, t: number) => samplerLogprob - (name + t) / 8;
  const referenceLogprob = (name: number, t: number) => samplerLogprob - (name - t) / 4;
  const each = <T>(of: (name: number, t: number) => T) => [0, 1].map((name) => [0, 1].map((t) => of(name, t)));

  it.each(['k1', 'k2', 'k3'] as const)('in the loss is %s', async (klEstimator) => {
    const learner = steady();
    const settings = settingsOf({ klEstimator }, { klCoefficient: 0.5 });
    const { metrics } = await learnStep(learner, reference(), pair(), settings, 1);
    const kl = each((name, t) => klEstimators[klEstimator](logprob(name, t), referenceLogprob(name, t)));
    close(
      learner.slopes(),
      kl.map((row, name) => row.map(({ slope }) => ((name === 0 ? -ofPair : ofPair) + 0.5 * slope) / 4)),
    );
    expect(metrics.kl).toBeCloseTo(kl.flat().reduce((sum, { value }) => sum + value, 0) / 4, 6);
  });

  it('in the reward lowers the advantage, and is not in the loss', async () => {
    const learner = steady();
    const settings = settingsOf({ advantage: 'rloo', klPlace: 'reward', klEstimator: 'k1' }, { klCoefficient: 0.5 });
    const { advantages, metrics } = await learnStep(learner, reference(), pair(), settings, 1);
    const penalties = each((name, t) => 0.5 * (logprob(name, t) - referenceLogprob(name, t))).map(([a, b]) => a + b);
    const difference = 1 - penalties[0] + penalties[1];
    close(advantages, [[difference, -difference]]);
    close(learner.slopes(), [
      [-difference / 4, -difference / 4],
      [difference / 4, difference / 4],
    ]);
    expect(metrics).toMatchObject({ reward: 0.5 });
    expect(metrics.kl).toBeCloseTo((penalties[0] + penalties[1]) / 0.5 / 4, 6);
  });

  it('in the reward of reinforce++ comes off token by token', async () => {
    const settings = settingsOf(
      { advantage: 'reinforce++', klPlace: 'reward', klEstimator: 'k1' },
      { klCoefficient: 0.5 },
    );
    const { learned } = await learnStep(steady(), reference(), pair(), settings, 1);
    const penalty = each((name, t) => 0.5 * (logprob(name, t) - referenceLogprob(name, t)));
    const returns = penalty.map(([first, last], name) => [1 - name - last - first, 1 - name - last]);
    const mean = returns.flat().reduce((sum, value) => sum + value, 0) / 4;
    const deviation = Math.sqrt(returns.flat().reduce((sum, value) => sum + (value - mean) ** 2, 0) / 3);
    close(
      learned.map(({ advantages }) => [...advantages.subarray(2)]),
      returns.map((row) => row.map((value) => (value - mean) / deviation)),
    );
  });
});

describe('a step of learning', () => {
  it('rewards entropy by its coefficient, and not without one', async () => {
    const learner = steady();
    const { metrics } = await learnStep(learner, null, pair(), settingsOf({ entropyCoefficient: 0.2 }), 1);
    expect(learner.given[0].map(({ entropies }) => [...entropies!])).toEqual(
      [0, 1].map(() => [0, 0, ...[-0.05, -0.05].map(Math.fround)]),
    );
    const plain = steady();
    const { metrics: without } = await learnStep(plain, null, pair(), settingsOf({}), 1);
    expect(plain.given[0].every(({ entropies }) => entropies === null)).toBe(true);
    expect(metrics.loss).toBeCloseTo(without.loss - 0.2 * 1.5, 6);
  });

  it.each([
    [
      'token-truncate',
      [
        [1, Math.exp(-0.125)],
        [Math.exp(-0.125), 0.8],
      ],
    ],
    [
      'token-mask',
      [
        [1, Math.exp(-0.125)],
        [Math.exp(-0.125), 0],
      ],
    ],
    [
      'sequence-truncate',
      [
        [Math.exp(-0.125), Math.exp(-0.125)],
        [0.8, 0.8],
      ],
    ],
    [
      'sequence-mask',
      [
        [Math.exp(-0.125), Math.exp(-0.125)],
        [0, 0],
      ],
    ],
  ] as const)('corrects for a sampler that is not the learner: %s', async (importanceCorrection, weights) => {
    const learner = steady();
    const settings = settingsOf({ importanceCorrection, importanceLow: 0.8, importanceHigh: 1.2 });
    const { metrics } = await learnStep(learner, null, pair(), settings, 1);
    close(
      learner.slopes(),
      weights.map((row, name) => row.map((weight) => ((name === 0 ? -ofPair : ofPair) * weight) / 4)),
    );
    const all = weights.flatMap((row) => [...row]);
    expect(metrics['sampling/importance_sampling_ratio/min']).toBeCloseTo(Math.min(...all), 6);
    expect(metrics['sampling/importance_sampling_ratio/mean']).toBeCloseTo(all.reduce((sum, w) => sum + w, 0) / 4, 6);
    expect(metrics['sampling/importance_sampling_ratio/max']).toBeCloseTo(Math.max(...all), 6);
  });

  it('corrects nothing unless it is asked to', async () => {
    const { metrics } = await learnStep(steady(), null, pair(), settingsOf({}), 1);
    expect(Object.keys(metrics).filter((name) => name.includes('importance_sampling'))).toEqual([]);
  });
});
