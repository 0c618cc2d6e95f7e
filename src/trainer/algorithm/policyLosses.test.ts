import { readFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { arbitraryPolicyTrajectory, expectSlopes, sumOver } from './coefficients.testing.js';
import { importanceWeights, type ImportanceCorrection } from './importance.js';
import type { PolicyTrajectory } from './policyGradient.js';
import { policyLosses, policyLossNames, type PolicyLoss, type PolicyLossOptions } from './policyLosses.js';

type Written = Omit<PolicyTrajectory, 'entropies'> & { readonly entropies?: ArrayLike<number> };

/** The losses as the papers write them. `now` is what moves; what stands behind a stopped gradient is the trajectory's own. */
const written: Record<PolicyLoss, typeof grpo> = {
  grpo,
  'dr-grpo': (one, now, options) => clippedSum(one, now, options) / options.trajectories / options.horizon,
  dapo: (one, now, options) => clippedSum(one, now, options) / options.tokens,
  gspo: (one, now, options) => {
    const tokens = sumOver(one.actionMask, () => 1);
    const logRatio = sumOver(one.actionMask, (t) => one.logprobs[t] - one.oldLogprobs[t]) / tokens;
    const sum = sumOver(one.actionMask, (t) => {
      const ratio = Math.exp(logRatio + now[t] - one.logprobs[t]);
      return -weight(one, t) * clippedObjective(ratio, advantage(one, t), options) + penalties(one, now, options, t);
    });
    return sum / tokens / options.trajectories;
  },
  cispo: (one, now, options) =>
    sumOver(one.actionMask, (t) => {
      const stopped = Math.exp(one.logprobs[t] - one.oldLogprobs[t]);
      const cut = Math.min(Math.max(stopped, 1 - options.clipLow), 1 + options.clipHigh);
      return -weight(one, t) * cut * advantage(one, t) * now[t] + penalties(one, now, options, t);
    }) / options.tokens,
};

function grpo(one: Written, now: readonly number[], options: PolicyLossOptions) {
  return clippedSum(one, now, options) / sumOver(one.actionMask, () => 1) / options.trajectories;
}

function clippedSum(one: Written, now: readonly number[], options: PolicyLossOptions) {
  return sumOver(one.actionMask, (t) => {
    const ratio = Math.exp(now[t] - one.oldLogprobs[t]);
    return -weight(one, t) * clippedObjective(ratio, advantage(one, t), options) + penalties(one, now, options, t);
  });
}

function clippedObjective(ratio: number, advantage: number, { clipLow, clipHigh, dualClip }: PolicyLossOptions) {
  const cut = Math.min(Math.max(ratio, 1 - clipLow), 1 + clipHigh);
  const pessimistic = Math.min(ratio * advantage, cut * advantage);
  return dualClip !== undefined && advantage < 0 ? Math.max(pessimistic, dualClip * advantage) : pessimistic;
}

const advantage = (one: Written, t: number) => (typeof one.advantage === 'number' ? one.advantage : one.advantage[t]);

const weight = (one: Written, t: number) => one.importanceWeights?.[t] ?? 1;

function penalties(one: Written, now: readonly number[], options: PolicyLossOptions, t: number) {
  const distance = now[t] - one.referenceLogprobs![t];
  const kl = { k1: distance, k2: distance ** 2 / 2, k3: Math.exp(-distance) + distance - 1 };
  return options.klCoefficient * kl[options.klEstimator!] - options.entropyCoefficient! * one.entropies![t];
}

const arbitraryOptions: fc.Arbitrary<PolicyLossOptions> = fc.record({
  clipLow: fc.constantFrom(0.1, 0.2, 1),
  clipHigh: fc.constantFrom(0.1, 0.28),
  dualClip: fc.constantFrom(1.35, undefined),
  klCoefficient: fc.constantFrom(0, 0.3),
  klEstimator: fc.constantFrom('k1', 'k2', 'k3'),
  entropyCoefficient: fc.constantFrom(0, 0.1),
  trajectories: fc.integer({ min: 1, max: 9 }),
  tokens: fc.integer({ min: 10, max: 99 }),
  horizon: fc.integer({ min: 10, max: 99 }),
});

const arbitraryCorrection = fc.option(
  fc.constantFrom<ImportanceCorrection>('token-truncate', 'token-mask', 'sequence-truncate', 'sequence-mask'),
);

const arbitraryTrajectory = fc
  .tuple(arbitraryPolicyTrajectory, arbitraryCorrection)
  .map(([trajectory, correction]): PolicyTrajectory => {
    if (correction === null) return trajectory;
    const { actionMask, oldLogprobs, referenceLogprobs } = trajectory;
    const bounds = { low: 0.8, high: 1.2 };
    return {
      ...trajectory,
      importanceWeights: importanceWeights(correction, actionMask, oldLogprobs, referenceLogprobs!, bounds),
    };
  });

describe.each(policyLossNames)('the coefficients of %s', (name) => {
  const coefficientsOf = policyLosses[name];

  it('are central differences of the written-out loss, whatever the options', () => {
    fc.assert(
      fc.property(arbitraryTrajectory, arbitraryOptions, (one, options) => {
        const { coefficients, entropyCoefficients, sums } = coefficientsOf(one, options);
        const loss = (now: readonly number[]) => written[name](one, now, options);
        expect(sums.loss).toBeCloseTo(loss([...one.logprobs]), 10);
        const bounds = [1 - options.clipLow, 1 + options.clipHigh, options.dualClip ?? 2];
        const tokens = sumOver(one.actionMask, () => 1);
        const mean = sumOver(one.actionMask, (t) => one.logprobs[t] - one.oldLogprobs[t]) / tokens;
        const logRatio = (t: number) => (name === 'gspo' ? mean : one.logprobs[t] - one.oldLogprobs[t]);
        expectSlopes(coefficients, one.logprobs, one.actionMask, loss, (t) =>
          bounds.some((bound) => Math.abs(Math.exp(logRatio(t)) - bound) < 1e-3),
        );
        expect(entropyCoefficients === null).toBe(options.entropyCoefficient === 0);
        if (entropyCoefficients === null) return;
        expectSlopes(entropyCoefficients, one.entropies!, one.actionMask, (entropies) =>
          written[name]({ ...one, entropies }, [...one.logprobs], options),
        );
      }),
    );
  });

  it('are exactly zero in a group of equal rewards: reward, KL and entropy alike', () => {
    fc.assert(
      fc.property(arbitraryTrajectory, arbitraryOptions, (one, options) => {
        const silent = coefficientsOf({ ...one, equalRewards: true }, options);
        expect(silent.coefficients.every((value) => value === 0)).toBe(true);
        expect(silent.entropyCoefficients?.every((value) => value === 0) ?? true).toBe(true);
        expect(silent.sums.loss).toBe(0);
      }),
    );
  });

  it('never look at a token whose mask is 0: anything may stand there', () => {
    fc.assert(
      fc.property(arbitraryTrajectory, arbitraryOptions, fc.constantFrom(0, -7, Infinity), (one, options, other) => {
        const filled = <T extends Float32Array | Float64Array>(values: T) =>
          values.map((value, t) => (one.actionMask[t] === 0 ? other : value)) as T;
        const { advantage: advantages, importanceWeights: weights } = one;
        const elsewhere: PolicyTrajectory = {
          ...one,
          logprobs: filled(one.logprobs),
          oldLogprobs: filled(one.oldLogprobs),
          referenceLogprobs: filled(one.referenceLogprobs!),
          entropies: filled(one.entropies!),
          advantage: typeof advantages === 'number' ? advantages : filled(advantages),
          ...(weights && { importanceWeights: filled(weights) }),
        };
        expect(coefficientsOf(elsewhere, options)).toEqual(coefficientsOf(one, options));
      }),
    );
  });
});

interface GoldenLoss extends Partial<PolicyLossOptions> {
  readonly source: string;
  readonly loss: PolicyLoss;
  readonly importanceCorrection?: ImportanceCorrection;
  readonly importanceLow?: number;
  readonly importanceHigh?: number;
  readonly value: number;
  readonly gradient: number[][];
  readonly entropyGradient: number[][];
}

interface Golden {
  readonly batch: Record<
    'mask' | 'logprobs' | 'oldLogprobs' | 'referenceLogprobs' | 'samplerLogprobs' | 'entropies',
    number[][]
  > & { readonly rewards: number[]; readonly horizon: number; readonly clipLow: number; readonly clipHigh: number };
  readonly losses: GoldenLoss[];
}

const { batch, losses } = JSON.parse(
  readFileSync(path.join(import.meta.dirname, 'golden', 'policyLosses.json'), 'utf8'),
) as Golden;

describe("TRL's and verl's own loss functions (scripts/golden/policy_losses.py)", () => {
  it('are there for every loss, from both', () => {
    for (const source of ['trl', 'verl']) {
      expect(new Set(losses.filter((one) => one.source === source).map(({ loss }) => loss))).toEqual(
        new Set(policyLossNames),
      );
    }
  });

  it.each(losses)('give the value and the gradient of $loss: $source $importanceCorrection', (golden) => {
    const mean = batch.rewards.reduce((sum, reward) => sum + reward, 0) / batch.rewards.length;
    const variance = batch.rewards.reduce((sum, reward) => sum + (reward - mean) ** 2, 0) / (batch.rewards.length - 1);
    const { importanceCorrection, importanceLow, importanceHigh } = golden;
    const bounds = { low: importanceLow!, high: importanceHigh! };
    const results = batch.mask.map((mask, i) => {
      const actionMask = Uint8Array.from(mask);
      const oldLogprobs = Float32Array.from(batch.oldLogprobs[i]);
      const sampler = Float32Array.from(batch.samplerLogprobs[i]);
      return policyLosses[golden.loss](
        {
          actionMask,
          logprobs: Float32Array.from(batch.logprobs[i]),
          oldLogprobs,
          referenceLogprobs: Float32Array.from(batch.referenceLogprobs[i]),
          entropies: Float32Array.from(batch.entropies[i]),
          advantage: (batch.rewards[i] - mean) / (Math.sqrt(variance) + 1e-4),
          equalRewards: false,
          ...(importanceCorrection && {
            importanceWeights: importanceWeights(importanceCorrection, actionMask, oldLogprobs, sampler, bounds),
          }),
        },
        {
          klCoefficient: 0,
          ...batch,
          ...golden,
          trajectories: batch.mask.length,
          tokens: batch.mask.flat().reduce((sum, bit) => sum + bit, 0),
        },
      );
    });
    expect(results.reduce((sum, { sums }) => sum + sums.loss, 0)).toBeCloseTo(golden.value, 7);
    results.forEach(({ coefficients, entropyCoefficients }, i) => {
      coefficients.forEach((value, t) => expect(value).toBeCloseTo(golden.gradient[i][t], 7));
      golden.entropyGradient[i].forEach((value, t) => expect(entropyCoefficients?.[t] ?? 0).toBeCloseTo(value, 7));
    });
  });

  it('are tried where each bound holds somewhere', () => {
    const clips = losses.map(({ gradient }) =>
      gradient.flat().filter((value, index) => value === 0 && batch.mask.flat()[index] === 1),
    );
    expect(clips.filter((zeros) => zeros.length > 0).length).toBeGreaterThan(3);
  });
});
