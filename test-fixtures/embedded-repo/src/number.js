/** Keeps a value inside the range from low to high. */
export function clamp(value, low, high) {
  if (value < low) return low;
  if (value > high) return high;
  return value;
}

/** Rounds to a number of decimal places. */
export function roundTo(value, places) {
  const factor = 10 ** places;
  return Math.round(value * factor) / factor;
}

/** The place of a value between low (0) and high (1). */
export function progress(value, low, high) {
  if (high === low) return 0;
  return (value - low) / (high - low);
}
