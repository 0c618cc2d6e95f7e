import {
  logSigmoid,
  sequenceLogprob,
  sigmoid,
  slopeOver,
  tokensOf,
  type Pair,
  type PairGradient,
  type ScoredSequence,
} from './scoredSequence.js';

export interface SimpoOptions {
  readonly beta: number;
  /** Margin by which the better one has to be ahead, in units of beta times nats per token. */
  readonly gamma: number;
  /** Pairs that the whole step's loss is averaged over. */
  readonly pairs: number;
}

/**
 * SimPO (arXiv 2405.14734, equation 6): DPO without a reference, on log-probabilities per token.
 *
 *   L = 1/N sum -log sigmoid(m - gamma)        m = beta (log pi(chosen)/|chosen| - log pi(rejected)/|rejected|)
 *   dL/dlp_t = -+ beta/(N |y|) sigmoid(gamma - m)        - on the chosen, + on the rejected
 */
export function simpoCoefficients(
  { chosen, rejected }: Pair<ScoredSequence>,
  { beta, gamma, pairs }: SimpoOptions,
): PairGradient {
  const margin = beta * (sequenceLogprob(chosen) / tokensOf(chosen) - sequenceLogprob(rejected) / tokensOf(rejected));
  const slope = (beta * sigmoid(gamma - margin)) / pairs;
  return {
    chosen: slopeOver(chosen, -slope / tokensOf(chosen)),
    rejected: slopeOver(rejected, slope / tokensOf(rejected)),
    loss: -logSigmoid(margin - gamma) / pairs,
    margin,
  };
}
