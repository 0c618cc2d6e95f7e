import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { wilsonInterval } from './wilson.js';

describe("Wilson's interval", () => {
  it('is the published one', () => {
    // Newcombe 1998, table I: 81 of 263 gives 0.2553 to 0.3662; 0 of 20 gives 0 to 0.1611.
    const [low, high] = wilsonInterval(81, 263);
    expect([low.toFixed(4), high.toFixed(4)]).toEqual(['0.2553', '0.3662']);
    const none = wilsonInterval(0, 20);
    expect(none[0]).toBe(0);
    expect(none[1].toFixed(4)).toBe('0.1611');
  });

  it('begins at 0 where nothing succeeded and ends at 1 where everything did', () => {
    for (let n = 1; n <= 200; n += 1) {
      expect(wilsonInterval(0, n)[0]).toBe(0);
      expect(wilsonInterval(n, n)[1]).toBe(1);
    }
  });

  it('holds the rate, within 0 and 1, and knows nothing without episodes', () => {
    expect(wilsonInterval(0, 0)).toEqual([0, 1]);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 500 }), fc.nat(500), (n, k) => {
        const rate = Math.min(k, n) / n;
        const [low, high] = wilsonInterval(Math.min(k, n), n);
        expect(low).toBeGreaterThanOrEqual(0);
        expect(high).toBeLessThanOrEqual(1);
        expect(rate).toBeGreaterThanOrEqual(low - 1e-12);
        expect(rate).toBeLessThanOrEqual(high + 1e-12);
      }),
    );
  });
});
