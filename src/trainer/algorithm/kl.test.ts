import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { klEstimators, klPenalties, type KlEstimator } from './kl.js';

const names: KlEstimator[] = ['k1', 'k2', 'k3'];
const logprob = fc.double({ min: -5, max: 0, noNaN: true });

describe('estimates of the KL divergence', () => {
  it.each(names)('have the slope of their value: %s', (name) => {
    fc.assert(
      fc.property(logprob, logprob, (own, reference) => {
        const at = (by: number) => klEstimators[name](own + by, reference).value;
        const { slope } = klEstimators[name](own, reference);
        expect(Math.abs(slope - (at(1e-5) - at(-1e-5)) / 2e-5)).toBeLessThan(1e-6 * (1 + Math.abs(slope)));
      }),
    );
  });

  it('expect what they estimate: k1 and k3 the KL itself, k2 its gradient', () => {
    const [policy, reference] = [
      [0.5, 0.3, 0.2],
      [0.2, 0.5, 0.3],
    ];
    const expected = (of: (p: number, q: number) => number) =>
      policy.reduce((sum, p, index) => sum + p * of(Math.log(p), Math.log(reference[index])), 0);
    const kl = policy.reduce((sum, p, index) => sum + p * Math.log(p / reference[index]), 0);
    expect(expected((p, q) => klEstimators.k1(p, q).value)).toBeCloseTo(kl, 12);
    expect(expected((p, q) => klEstimators.k3(p, q).value)).toBeCloseTo(kl, 12);
    // By the logit of the first of three outcomes: d lp_i / d logit_0 = [i = 0] - p_0.
    const gradient = (name: KlEstimator) =>
      policy.reduce((sum, p, index) => {
        const { slope } = klEstimators[name](Math.log(p), Math.log(reference[index]));
        return sum + p * slope * ((index === 0 ? 1 : 0) - policy[0]);
      }, 0);
    const klAt = (by: number) => {
      const weights = policy.map((p, index) => p * Math.exp(index === 0 ? by : 0));
      const total = weights.reduce((sum, value) => sum + value, 0);
      return weights.reduce((sum, w, index) => sum + (w / total) * Math.log(w / total / reference[index]), 0);
    };
    expect(gradient('k2')).toBeCloseTo((klAt(1e-5) - klAt(-1e-5)) / 2e-5, 8);
    expect(gradient('k1')).toBeCloseTo(0, 12);
  });

  it('are what a reward loses to a token, and only to sampled ones', () => {
    const [old, reference] = [Float32Array.of(NaN, -1, -2), Float32Array.of(NaN, -1.5, -1)];
    expect([...klPenalties(Uint8Array.of(0, 1, 1), old, reference, 'k1', 0.1)]).toEqual([0, 0.05, -0.1]);
  });
});
