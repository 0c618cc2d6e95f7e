/** What the weights are made of (a token's ratio or the whole sequence's), and what becomes of those out of bounds. */
export type ImportanceCorrection = 'token-truncate' | 'token-mask' | 'sequence-truncate' | 'sequence-mask';

export interface ImportanceBounds {
  readonly low: number;
  readonly high: number;
}

/**
 * Weights that correct for a sampler whose policy is not quite the learner's (other kernels, other precision, older weights):
 *
 *   w_t = exp(lp_old_t - lp_sampler_t)                 token
 *   w_t = exp(sum_u m_u (lp_old_u - lp_sampler_u))     sequence, the same for each of its tokens
 *
 * truncate: cut to [low, high] (truncated importance sampling; TRL's *_truncate, verl's single threshold);
 * mask: 0 outside of them, so the token or the sequence teaches nothing (TRL's *_mask, verl's IcePop).
 * They are constants of the loss: nothing is differentiated by them.
 * @returns weights, 0 where the mask is 0: [time]
 */
export function importanceWeights(
  correction: ImportanceCorrection,
  actionMask: Uint8Array,
  oldLogprobs: Float32Array,
  samplerLogprobs: Float32Array,
  { low, high }: ImportanceBounds,
): Float64Array {
  const bounded = (logRatio: number) => {
    const ratio = Math.exp(logRatio);
    if (correction.endsWith('truncate')) return Math.max(low, Math.min(high, ratio));
    return ratio < low || ratio > high ? 0 : ratio;
  };
  const logRatioAt = (t: number) => oldLogprobs[t] - samplerLogprobs[t];
  if (correction.startsWith('token')) {
    return Float64Array.from(actionMask, (bit, t) => (bit === 0 ? 0 : bounded(logRatioAt(t))));
  }
  const weight = bounded(actionMask.reduce((sum, bit, t) => (bit === 0 ? sum : sum + logRatioAt(t)), 0));
  return Float64Array.from(actionMask, (bit) => (bit === 0 ? 0 : weight));
}
