import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { arbitraryTokens, expectSlopes, sumOver } from './coefficients.testing.js';
import { acceptedRollouts } from './rejectionSampling.js';
import { supervisedCoefficients } from './supervised.js';
import { unlikelihoodCoefficients } from './unlikelihood.js';

describe('imitation', () => {
  it('has the slopes of the negative log-likelihood', () => {
    fc.assert(
      fc.property(arbitraryTokens, ({ actionMask, logprobs }) => {
        const written = (now: readonly number[]) => -sumOver(actionMask, (t) => now[t]) / 9;
        expectSlopes(supervisedCoefficients(actionMask, 9), logprobs, actionMask, written);
      }),
    );
  });
});

describe('unlikelihood of negative examples', () => {
  it('has the slopes of -log(1 - p)', () => {
    fc.assert(
      fc.property(arbitraryTokens, (one) => {
        const { actionMask } = one;
        const { coefficients, loss } = unlikelihoodCoefficients(one, 9, 0.5);
        const written = (now: readonly number[]) =>
          (-0.5 * sumOver(actionMask, (t) => Math.log(1 - Math.exp(now[t])))) / 9;
        expect(loss).toBeCloseTo(written([...one.logprobs]), 8);
        expectSlopes(coefficients, one.logprobs, actionMask, written);
      }),
    );
  });

  it('stays finite and keeps pushing where the policy is sure, in one piece with the curve', () => {
    const at = (logprob: number) =>
      unlikelihoodCoefficients({ actionMask: Uint8Array.of(1), logprobs: Float32Array.of(logprob) }, 1);
    expect(at(0).coefficients[0]).toBeGreaterThan(9e4);
    expect(Number.isFinite(at(0).loss)).toBe(true);
    expect(at(0).loss).toBeGreaterThan(at(-1e-4).loss);
    expect(at(-1.0001e-5).loss).toBeCloseTo(at(-0.9999e-5).loss, 3);
    expect(at(-800).coefficients[0]).toBe(0);
  });
});

describe('rejection sampling', () => {
  it('keeps what reaches the bar, the best of it, in the order of the group', () => {
    const rewards = [0.2, 1, null, 0.9, 1, 0];
    expect(acceptedRollouts(rewards, { least: 0.9 })).toEqual([1, 3, 4]);
    expect(acceptedRollouts(rewards, { least: 0, most: 2 })).toEqual([1, 4]);
    expect(acceptedRollouts(rewards, { least: 0, most: 1 })).toEqual([1]);
    expect(acceptedRollouts([null, 0], { least: 0.5 })).toEqual([]);
  });
});
