/** The first number that is NaN or infinite; undefined where all are finite. */
export function firstNotFinite(values: Float32Array): number | undefined {
  for (let i = 0; i < values.length; i++) if (!Number.isFinite(values[i])) return values[i];
  return undefined;
}
