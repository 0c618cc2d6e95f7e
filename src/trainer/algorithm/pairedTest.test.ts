import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { comparePaired, signFlipPValue } from './pairedTest.js';

describe('the paired comparison', () => {
  it("is McNemar's exact test where each task has one episode", () => {
    // 8 discordant pairs, 7 of them one way: 2 (C(8,0) + C(8,1)) / 2^8, by scipy.stats.binomtest(1, 8).
    const differences = [1, 1, 1, 1, 1, 1, 1, -1, 0, 0, 0];
    expect(signFlipPValue(differences)).toBeCloseTo(0.0703125, 12);
    expect(signFlipPValue([1, 1, 1, 1, 1])).toBeCloseTo(0.0625, 12);
  });

  it('equals counting all signs, whatever the differences', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -4, max: 4 }), { maxLength: 9 }), (differences) => {
        const observed = Math.abs(differences.reduce((a, b) => a + b, 0));
        let extreme = 0;
        for (let signs = 0; signs < 2 ** differences.length; signs++) {
          const flipped = differences.reduce((a, b, i) => a + ((signs >> i) & 1 ? b : -b), 0);
          if (Math.abs(flipped) >= observed) extreme++;
        }
        expect(signFlipPValue(differences)).toBeCloseTo(extreme / 2 ** differences.length, 10);
      }),
    );
  });

  it('is 1 where nothing differs, and exact for hundreds of tasks', () => {
    expect(signFlipPValue([])).toBe(1);
    expect(signFlipPValue([0, 0])).toBe(1);
    expect(signFlipPValue(new Array<number>(300).fill(1))).toBeLessThan(1e-80);
  });

  it('averages over tasks, leaves out those without a pair, and gives the interval of the mean', () => {
    const task = (taskId: string, episodes: number, before: number, after: number) => ({
      taskId,
      episodes,
      before,
      after,
    });
    const result = comparePaired([task('a', 4, 1, 3), task('b', 2, 1, 1), task('c', 0, 0, 0), task('d', 4, 4, 3)]);
    expect(result).toMatchObject({ tasks: 3, episodes: 10 });
    expect(result.difference).toBeCloseTo((0.5 + 0 - 0.25) / 3, 12);
    const deviation = Math.sqrt(((0.5 - 1 / 12) ** 2 + (1 / 12) ** 2 + (-0.25 - 1 / 12) ** 2) / 2);
    expect(result.interval![1]).toBeCloseTo(1 / 12 + (1.959963984540054 * deviation) / Math.sqrt(3), 12);
    expect(comparePaired([task('a', 2, 1, 1), task('b', 2, 0, 0)])).toMatchObject({ difference: 0, interval: null });
    expect(comparePaired([task('a', 1, 0, 1)])).toMatchObject({ difference: 1, interval: null, pValue: 1 });
  });
});
