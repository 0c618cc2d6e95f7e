/** 2^(i / steps), for i from 0 up to `steps`. */
const steps = 2048;
const fractions = Float64Array.from({ length: steps }, (_, i) => 2 ** (i / steps));
/** 2^-i: below the last one e^x is taken for 0. */
const halvings = Float64Array.from({ length: 1024 }, (_, i) => 2 ** -i);
const lowest = -1023 * Math.LN2;

/**
 * e^x of x <= 0, to 1e-11 of its value; 0 below -709; NaN of NaN. A softmax over a vocabulary takes one for every token, where
 * Math.exp, which is exact to the last bits, is most of the time that sampling takes. x = k ln2 / 2048 + r, k whole, and e^r by the
 * first terms of its series: what is left out is r^3 / 6 < 7e-12.
 */
export function expOfNegative(x: number): number {
  if (x < lowest) return 0;
  const k = Math.floor(x * (steps / Math.LN2));
  const r = x - k * (Math.LN2 / steps);
  const whole = -(k >> 11);
  return halvings[whole]! * fractions[k & (steps - 1)]! * (1 + r + 0.5 * r * r);
}
