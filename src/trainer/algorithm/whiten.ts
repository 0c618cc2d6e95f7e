/** Added to the variance, as verl does. */
const varianceEpsilon = 1e-8;

/**
 * Values of a whole batch, brought to mean 0 and deviation 1 over the tokens where the mask is 1 (verl's `masked_whiten`,
 * sample variance): (x - mean) / sqrt(var + 1e-8). Exactly 0 where all of them are equal.
 * @param values one array a trajectory: [time]; never looked at where the mask is 0
 * @returns the same shapes, 0 where the mask is 0
 */
export function whiten(values: readonly Float64Array[], masks: readonly Uint8Array[]): Float64Array[] {
  const chosen = values.flatMap((each, index) => [...each].filter((_, t) => masks[index][t] === 1));
  if (chosen.every((value) => value === chosen[0])) return values.map((each) => new Float64Array(each.length));
  const mean = chosen.reduce((sum, value) => sum + value, 0) / chosen.length;
  const variance = chosen.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (chosen.length - 1);
  const scale = 1 / Math.sqrt(variance + varianceEpsilon);
  return values.map((each, index) => each.map((value, t) => (masks[index][t] === 0 ? 0 : (value - mean) * scale)));
}
