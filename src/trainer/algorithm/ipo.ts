import type { DpoOptions } from './dpo.js';
import {
  sequenceLogratio,
  slopeOver,
  tokensOf,
  type Pair,
  type PairGradient,
  type ReferencedSequence,
} from './scoredSequence.js';

/**
 * Identity preference optimization (arXiv 2310.12036, equation 17, tau = beta): the difference is to be 1/(2 beta), not more,
 * so a pair that is told apart already pulls no further.
 *
 *   L = 1/N sum (h - 1/(2 beta))^2        h = log pi/pi_ref(chosen)/|chosen| - log pi/pi_ref(rejected)/|rejected|
 *   dL/dlp_t = +- 2/(N |y|) (h - 1/(2 beta))        + on the chosen, - on the rejected
 *
 * Averaged over each sequence's tokens, as the paper's authors do and TRL after them, though the equation has sums.
 */
export function ipoCoefficients(
  { chosen, rejected }: Pair<ReferencedSequence>,
  { beta, pairs }: DpoOptions,
): PairGradient {
  const margin = sequenceLogratio(chosen) / tokensOf(chosen) - sequenceLogratio(rejected) / tokensOf(rejected);
  const missing = margin - 1 / (2 * beta);
  const slope = (2 * missing) / pairs;
  return {
    chosen: slopeOver(chosen, slope / tokensOf(chosen)),
    rejected: slopeOver(rejected, -slope / tokensOf(rejected)),
    loss: missing ** 2 / pairs,
    margin,
  };
}
