import {
  logSigmoid,
  sequenceLogratio,
  sigmoid,
  slopeOver,
  type Pair,
  type PairGradient,
  type ReferencedSequence,
} from './scoredSequence.js';

export interface DpoOptions {
  /** Strength of the tie to the reference policy. */
  readonly beta: number;
  /** Pairs that the whole step's loss is averaged over. */
  readonly pairs: number;
}

/**
 * Direct preference optimization (arXiv 2305.18290, equation 7):
 *
 *   L = 1/N sum -log sigmoid(beta d)        d = log pi/pi_ref(chosen) - log pi/pi_ref(rejected)
 *   dL/dlp_t = -+ beta/N sigmoid(-beta d)   - on the chosen, + on the rejected
 */
export function dpoCoefficients(
  { chosen, rejected }: Pair<ReferencedSequence>,
  { beta, pairs }: DpoOptions,
): PairGradient {
  const margin = beta * (sequenceLogratio(chosen) - sequenceLogratio(rejected));
  const slope = (beta * sigmoid(-margin)) / pairs;
  return {
    chosen: slopeOver(chosen, -slope),
    rejected: slopeOver(rejected, slope),
    loss: -logSigmoid(margin) / pairs,
    margin,
  };
}
