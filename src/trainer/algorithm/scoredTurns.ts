import { criticEstimate, type CriticEstimate, type ValuedRollout } from './criticEstimators.js';

export interface ScoredTurnsOptions {
  /** Discount from turn to turn. */
  readonly gamma: number;
  /** 0: a turn is credited with its own score; 1: with those of all that follow it. */
  readonly lambda: number;
  /** Weight of the scores beside the outcome. */
  readonly weight: number;
}

/**
 * A learned scorer of steps (requirement R9): a critic V that is taught what recorded turns came to says what each turn added,
 *
 *   s_k = r_k + gamma V(s_k+1) - V(s_k)        V behind the last turn: 0        r: the reward at the last turn, else 0
 *
 * and a turn is credited with the outcome, held against the group's and discounted, and with the scores from it on:
 *
 *   A_k = outcome_k + weight sum_j (gamma lambda)^j s_k+j
 *
 * The score is the reward shaped by the potential V (Ng, Harada and Russell 1999, theorem 1: whatever the potential, the best policy
 * stays the best): scores from a turn on sum up, discounted, to the episode's own return less V where the turn began, which the turn
 * does not change. With lambda 1 that sum is what a turn is credited with, so that V is a baseline and cannot mislead; the smaller
 * lambda is, the more V's own word counts, which where V is right is the turn's advantage with less noise, and is wrong where V is
 * (generalized advantage estimation, gae.ts). V is taught the discounted outcome, whatever lambda. Rollouts of equal rewards teach too.
 *
 * @param outcomes what the outcome alone credits each token with, as turnDiscounted.ts has it; 0 where the mask is 0: [time]
 * @returns as criticEstimators.ts has it
 */
export function scoredTurns(
  outcomes: ArrayLike<number>,
  rollout: ValuedRollout,
  { gamma, lambda, weight }: ScoredTurnsOptions,
): CriticEstimate {
  const estimateWith = (trace: number) => criticEstimate(rollout, { gamma, lambda: trace, rhoBar: 1, cBar: 1 });
  const { targets, valued } = estimateWith(1);
  const credits = estimateWith(lambda).advantages;
  return { advantages: credits.map((credit, t) => outcomes[t] + weight * credit), targets, valued };
}
