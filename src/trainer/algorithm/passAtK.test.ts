import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { passAtK } from './passAtK.js';

describe('pass@k', () => {
  it('is the share of all choices of k episodes that hold a success', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { minLength: 1, maxLength: 8 }), fc.integer({ min: 1, max: 8 }), (runs, k) => {
        const choices = Array.from({ length: 2 ** runs.length }, (_, bits) =>
          runs.filter((_, index) => (bits >> index) % 2 === 1),
        ).filter((chosen) => chosen.length === k);
        const found = passAtK(runs.length, runs.filter(Boolean).length, k);
        if (k > runs.length) {
          expect(found).toBeNull();
          return;
        }
        expect(found).toBeCloseTo(choices.filter((chosen) => chosen.some(Boolean)).length / choices.length, 12);
      }),
    );
  });

  it('is unbiased: its mean over binomial successes is 1 - (1 - p)^k', () => {
    const [n, k, p] = [10, 4, 0.3];
    const choose = (m: number, r: number): number => (r === 0 ? 1 : (choose(m - 1, r - 1) * m) / r);
    const mean = Array.from(
      { length: n + 1 },
      (_, c) => choose(n, c) * p ** c * (1 - p) ** (n - c) * passAtK(n, c, k)!,
    );
    expect(mean.reduce((sum, value) => sum + value, 0)).toBeCloseTo(1 - (1 - p) ** k, 12);
  });

  it('of one is the success rate, and large counts do not overflow', () => {
    expect(passAtK(200, 50, 1)).toBeCloseTo(0.25, 12);
    expect(passAtK(5000, 0, 1000)).toBe(0);
    expect(passAtK(5000, 4500, 1000)).toBe(1);
  });
});
