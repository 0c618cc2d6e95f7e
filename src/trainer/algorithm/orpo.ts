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

export interface OrpoOptions {
  /** Weight of the odds ratio (lambda of the paper, TRL's beta). */
  readonly lambda: number;
  /** Pairs that the whole step's loss is averaged over. */
  readonly pairs: number;
}

/** A probability of 1 has no odds: mean log-probabilities count as at most this. */
const mostLogprob = -1e-6;

/**
 * ORPO (arXiv 2403.07691, equations 6 and 7): imitation of the better one plus the ratio of the odds, without a reference.
 *
 *   L = 1/N sum [ -c - lambda log sigmoid(log odds(c) - log odds(r)) ]
 *   log odds(x) = x - log(1 - exp(x))        c, r: log pi(y)/|y| of chosen and rejected
 *
 *   dL/dc = 1/N [ -1 - lambda sigmoid(-o) / (1 - exp(c)) ]    dL/dr = 1/N lambda sigmoid(-o) / (1 - exp(r))    o: log odds ratio
 *
 * TRL imitates the prompt too; here, as in the paper, the answer alone.
 */
export function orpoCoefficients(
  { chosen, rejected }: Pair<ScoredSequence>,
  { lambda, pairs }: OrpoOptions,
): PairGradient {
  const [better, worse] = [meanLogprob(chosen), meanLogprob(rejected)];
  const margin = logOdds(better) - logOdds(worse);
  const pull = lambda * sigmoid(-margin);
  return {
    chosen: slopeOver(chosen, (-1 + pull / Math.expm1(better)) / (pairs * tokensOf(chosen))),
    rejected: slopeOver(rejected, -pull / Math.expm1(worse) / (pairs * tokensOf(rejected))),
    loss: (-better - lambda * logSigmoid(margin)) / pairs,
    margin,
  };
}

const meanLogprob = (sequence: ScoredSequence) => Math.min(mostLogprob, sequenceLogprob(sequence) / tokensOf(sequence));
const logOdds = (logprob: number) => logprob - Math.log(-Math.expm1(logprob));
