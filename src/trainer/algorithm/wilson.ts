/** 97.5 % quantile of the normal distribution: two-sided 95 %. */
const z = 1.959963984540054;

/**
 * Wilson's score interval at 95 % of a success rate (Wilson 1927): honest also for few episodes and rates near 0 or 1.
 * Without any episode nothing is known: [0, 1].
 */
export function wilsonInterval(successes: number, n: number): readonly [low: number, high: number] {
  if (n === 0) return [0, 1];
  const rate = successes / n;
  const scale = 1 / (1 + (z * z) / n);
  const centre = (rate + (z * z) / (2 * n)) * scale;
  const half = z * scale * Math.sqrt((rate * (1 - rate)) / n + (z * z) / (4 * n * n));
  // Where no episode or every one succeeded the bound is the rate itself, and rounding must not put it beyond.
  return [successes === 0 ? 0 : centre - half, successes === n ? 1 : centre + half];
}
