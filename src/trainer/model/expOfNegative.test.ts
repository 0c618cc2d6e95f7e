import fc from 'fast-check';
import { expect, test } from 'vitest';
import { expOfNegative } from './expOfNegative.js';

test('e^x of negative numbers is that of Math.exp, to 1e-11 of its value', () => {
  fc.assert(
    fc.property(fc.double({ min: -709, max: 0, noNaN: true }), (x) => {
      expect(Math.abs(expOfNegative(x) / Math.exp(x) - 1)).toBeLessThan(1e-11);
    }),
    { numRuns: 20_000, examples: [[-709], [-Math.LN2], [-Math.LN2 / 2048], [-1e-300], [-700.5]] },
  );
});

test.each([
  [0, 1],
  [-0, 1],
  [-710, 0],
  [-1e300, 0],
  [-Infinity, 0],
  [NaN, NaN],
])('e^%d is %d', (x, value) => expect(expOfNegative(x)).toBe(value));
