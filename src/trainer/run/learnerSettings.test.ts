import { describe, expect, it } from 'vitest';
import { learningRateShare, optimizerSchema } from './learnerSettings.js';

const shares = (settings: object, steps: number) =>
  Array.from({ length: steps }, (_, index) => learningRateShare(optimizerSchema.parse(settings), steps, index + 1));
const rounded = (values: readonly number[]) => values.map((value) => Math.round(value * 1000) / 1000);

describe('the learning rate', () => {
  it('stays at its height by default', () => {
    expect(shares({}, 3)).toEqual([1, 1, 1]);
  });

  it('rises in the warm-up, then falls in a straight line', () => {
    expect(rounded(shares({ schedule: 'linear', warmupSteps: 3 }, 7))).toEqual([0.25, 0.5, 0.75, 1, 0.75, 0.5, 0.25]);
  });

  it('falls by half a cosine to a share of its height', () => {
    expect(rounded(shares({ schedule: 'cosine', finalShare: 0.1 }, 4))).toEqual([1, 0.868, 0.55, 0.232]);
  });

  it('is never negative, though a run goes on longer than was planned', () => {
    const optimizer = optimizerSchema.parse({ schedule: 'linear', warmupSteps: 9 });
    expect(learningRateShare(optimizer, 5, 20)).toBe(0);
  });
});
