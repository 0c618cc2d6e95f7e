import { sequenceLogratio, sigmoid, slopeOver, type ReferencedSequence } from './scoredSequence.js';

export interface KtoOptions {
  readonly beta: number;
  /** z_0: how far the policy is from the reference on the whole, in nats; a constant of the loss (`ktoReferencePoint`). */
  readonly referencePoint: number;
  /** lambda_D and lambda_U: weights of good and of bad trajectories. */
  readonly desirableWeight: number;
  readonly undesirableWeight: number;
  /** Trajectories, good and bad, that the whole step's loss is averaged over. */
  readonly trajectories: number;
}

/**
 * Kahneman-Tversky optimization (arXiv 2402.01306, equation 7), which needs no pairs:
 *
 *   L = 1/N sum lambda_y (1 - sigmoid(s beta (d - z_0)))        d = log pi/pi_ref(y), s = 1 for good ones, -1 for bad ones
 *   dL/dlp_t = -s lambda_y beta/N sigmoid(u) (1 - sigmoid(u))   u = s beta (d - z_0)
 *
 * @returns coefficients dL/dlp, 0 where the mask is 0: [time]
 */
export function ktoCoefficients(
  sequence: ReferencedSequence,
  desirable: boolean,
  { beta, referencePoint, desirableWeight, undesirableWeight, trajectories }: KtoOptions,
): { coefficients: Float32Array; loss: number } {
  const weight = (desirable ? desirableWeight : undesirableWeight) / trajectories;
  const sign = desirable ? 1 : -1;
  const value = sigmoid(sign * beta * (sequenceLogratio(sequence) - referencePoint));
  return {
    coefficients: slopeOver(sequence, -sign * weight * beta * value * (1 - value)),
    loss: weight * (1 - value),
  };
}

/**
 * z_0 of KTO, an estimate of KL(pi || pi_ref): the mean of log pi/pi_ref, at least 0, over answers that the policy has just sampled,
 * or, as in the paper's estimate, over recorded ones behind prompts of other tasks. Exactly 0 without any.
 */
export function ktoReferencePoint(answers: readonly ReferencedSequence[]): number {
  if (answers.length === 0) return 0;
  return Math.max(0, answers.reduce((sum, each) => sum + sequenceLogratio(each), 0) / answers.length);
}
