import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  firstLossScale,
  growthInterval,
  halvedLossScale,
  largestLossScale,
  lossScaleAfter,
  lossScaleIn,
  lossScaleMetadata,
  type LossScale,
} from './lossScale.js';

const scales: fc.Arbitrary<LossScale> = fc.record({
  scale: fc.integer({ min: 0, max: 24 }).map((exponent) => 2 ** exponent),
  updates: fc.nat({ max: growthInterval - 1 }),
});
const norms = fc.oneof(fc.double({ min: 0, noNaN: true }), fc.constantFrom(0, Infinity, NaN));

describe('the scale of the loss', () => {
  it('is halved by an overflow, down to 1 and no further', () => {
    expect(halvedLossScale({ scale: 4096, updates: 7 })).toEqual({ scale: 2048, updates: 0 });
    expect(halvedLossScale({ scale: 1, updates: 7 })).toBeNull();
    let [scale, halvings]: [LossScale | null, number] = [firstLossScale, 0];
    for (; scale !== null; scale = halvedLossScale(scale)) halvings++;
    expect(halvings).toBe(16);
  });

  it('doubles after as many updates as the growth interval in a row, not one earlier', () => {
    let scale = firstLossScale;
    for (let update = 1; update < growthInterval; update++) scale = lossScaleAfter(scale, 0.5);
    expect(scale).toEqual({ scale: 2 ** 15, updates: growthInterval - 1 });
    expect(lossScaleAfter(scale, 0.5)).toEqual({ scale: 2 ** 16, updates: 0 });
    // An overflow in between counts from the start again.
    expect(lossScaleAfter(halvedLossScale(scale)!, 0.5)).toEqual({ scale: 2 ** 14, updates: 1 });
  });

  it('learns nothing from an update without a gradient, or with one that is not finite', () => {
    fc.assert(
      fc.property(scales, fc.constantFrom(0, NaN, Infinity), (scale, norm) => {
        expect(lossScaleAfter(scale, norm)).toEqual(scale);
      }),
    );
  });

  it('stays a power of two from 1 to the largest, whatever happens', () => {
    fc.assert(
      fc.property(scales, fc.array(fc.oneof(norms, fc.constant('overflow' as const))), (start, events) => {
        const end = events.reduce<LossScale>(
          (now, event) => (event === 'overflow' ? (halvedLossScale(now) ?? now) : lossScaleAfter(now, event)),
          start,
        );
        expect(end.scale).toBeGreaterThanOrEqual(1);
        expect(end.scale).toBeLessThanOrEqual(largestLossScale);
        expect(Number.isInteger(Math.log2(end.scale))).toBe(true);
        expect(end.updates).toBeLessThan(growthInterval);
      }),
    );
  });

  it('comes back from a header as it was, and from no other header', () => {
    fc.assert(
      fc.property(scales, (scale) => {
        expect(lossScaleIn(lossScaleMetadata(scale))).toEqual(scale);
      }),
    );
    const written = lossScaleMetadata(firstLossScale);
    for (const broken of [
      {},
      { ...written, loss_scale: '0' },
      { ...written, loss_scale: '3' },
      { ...written, loss_scale: '0.5' },
      { ...written, loss_scale: 'Infinity' },
      { ...written, loss_scale: String(2 * largestLossScale) },
      { ...written, loss_scale_updates: '-1' },
      { ...written, loss_scale_updates: '1.5' },
      { ...written, loss_scale_updates: String(growthInterval) },
    ])
      expect(lossScaleIn(broken)).toBeNull();
  });
});
