import type { LearnedTokens } from '../../trajectory/trajectory.js';
import type { PlacedToken } from './trajectoryText.js';

/** What of a run's settings decides how a token is learned from. */
export interface LossSettings {
  readonly clipLow: number;
  readonly clipHigh: number;
  /** beta of the KL term. */
  readonly klCoefficient: number;
  readonly algorithm: {
    readonly loss: string;
    readonly dualClip: number;
    readonly klEstimator: 'k1' | 'k2' | 'k3';
    readonly klPlace: 'loss' | 'reward';
    readonly importanceCorrection: string;
  };
}

export type Clip = 'none' | 'low' | 'high' | 'dual';

/** What is known of one sampled token; NaN is never in it: what is not known is null. */
export interface TokenFacts {
  /** Of the policy that sampled it, of the learner before the step's first update, and of the reference, in nats. */
  readonly logprob: number | null;
  readonly learnerLogprob: number | null;
  readonly referenceLogprob: number | null;
  readonly entropy: number | null;
  readonly advantage: number | null;
  /** dL/dlogp as given to the backward pass of the first update. */
  readonly coefficient: number | null;
  /** Learner's probability over the sampler's. */
  readonly ratio: number | null;
  /** Learner's log-probability less the sampler's. */
  readonly difference: number | null;
  /** Whether the run's bounds cut that ratio, and which. */
  readonly clip: Clip | null;
  /** The run's estimate of KL(learner || reference) at this token, and its derivative by the learner's log-probability. */
  readonly kl: { readonly value: number; readonly slope: number } | null;
}

/** Facts of a token that the policy sampled; null of any other. */
export function tokenFacts(
  { node, at, index }: Pick<PlacedToken, 'node' | 'at' | 'index'>,
  learned: LearnedTokens | null,
  settings: LossSettings | null,
): TokenFacts | null {
  if (node.actionMask[at] !== 1) return null;
  const logprob = known(node.logprobs[at]);
  const learnerLogprob = known(learned?.learnerLogprobs[index]);
  const referenceLogprob = known(learned?.referenceLogprobs[index]);
  const advantage = known(learned?.advantages[index]);
  const difference = logprob === null || learnerLogprob === null ? null : learnerLogprob - logprob;
  const ratio = difference === null ? null : Math.exp(difference);
  return {
    logprob,
    learnerLogprob,
    referenceLogprob,
    entropy: known(node.entropies[at]),
    advantage,
    coefficient: known(learned?.coefficients[index]),
    ratio,
    difference,
    clip: ratio === null || advantage === null || settings === null ? null : clipOf(ratio, advantage, settings),
    kl:
      learnerLogprob === null || referenceLogprob === null
        ? null
        : klOf(learnerLogprob - referenceLogprob, settings?.algorithm.klEstimator ?? 'k3'),
  };
}

/** Sum of the sizes of all coefficients: what a token's share of the loss is a share of. */
export function lossMass(learned: LearnedTokens | null): number {
  let sum = 0;
  for (const coefficient of learned?.coefficients ?? []) sum += Math.abs(coefficient);
  return sum;
}

/** PPO's bounds hold only in the direction that the advantage pushes (arXiv 1707.06347); dual clip: arXiv 1912.09729. */
export function clipOf(ratio: number, advantage: number, { clipLow, clipHigh, algorithm }: LossSettings): Clip {
  if (advantage > 0 && ratio > 1 + clipHigh) return 'high';
  if (advantage < 0 && ratio < 1 - clipLow) return 'low';
  if (advantage < 0 && algorithm.dualClip > 0 && ratio > algorithm.dualClip) return 'dual';
  return 'none';
}

/** Schulman's estimators from d = lp - lr (http://joschu.net/blog/kl-approx.html), with their derivatives by lp. */
export function klOf(d: number, estimator: 'k1' | 'k2' | 'k3'): { readonly value: number; readonly slope: number } {
  if (estimator === 'k1') return { value: d, slope: 1 };
  if (estimator === 'k2') return { value: (d * d) / 2, slope: d };
  return { value: Math.exp(-d) + d - 1, slope: 1 - Math.exp(-d) };
}

const known = (value: number | undefined) => (value === undefined || Number.isNaN(value) ? null : value);
