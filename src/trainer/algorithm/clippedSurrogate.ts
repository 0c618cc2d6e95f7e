import type { SurrogateToken } from './policyGradient.js';

export interface ClipOptions {
  /** The ratio counts as at least 1 - clipLow. */
  readonly clipLow: number;
  /** The ratio counts as at most 1 + clipHigh; larger than `clipLow` is DAPO's clip-higher. */
  readonly clipHigh: number;
  /** c of dual clip, above 1: where the advantage is negative the ratio counts as at most c. Absent: no such bound. */
  readonly dualClip?: number;
}

/**
 * PPO's clipped surrogate (arXiv 1707.06347, equation 7) of one token, with two bounds (clip-higher: DAPO, arXiv
 * 2503.14476, section 3.1) and a third for negative advantages (dual clip: arXiv 1912.09729):
 *
 *   s = min(rho A, clip(rho, 1 - low, 1 + high) A)        A < 0 and dual clip: max(s, c A)
 *   ds/dlp = rho A, or 0 where a bound holds              rho = exp(logRatio)
 */
export function clippedSurrogate(
  logRatio: number,
  advantage: number,
  { clipLow, clipHigh, dualClip = Infinity }: ClipOptions,
): SurrogateToken {
  const ratio = Math.exp(logRatio);
  const bounded = (clip: SurrogateToken['clip'], bound: number) => ({
    ratio,
    clip,
    value: advantage * bound,
    slope: 0,
  });
  if (advantage > 0 && ratio > 1 + clipHigh) return bounded('high', 1 + clipHigh);
  if (advantage < 0 && ratio < 1 - clipLow) return bounded('low', 1 - clipLow);
  if (advantage < 0 && ratio > dualClip) return bounded('dual', dualClip);
  return { ratio, clip: 'none', value: ratio * advantage, slope: ratio * advantage };
}
