import type { LearnedTokens, Trajectory } from '../trajectory/trajectory.js';
import { learnedMasks } from './rollout/nodes.js';

/**
 * What the learner found out about a whole trajectory, from arrays that end at its last sampled token: stretched over the
 * tokens behind it, which no learner saw.
 * @param advantage of every token that is learned from
 * @param found log-probabilities before the update, the reference's where there is one, and dL/dlp: [time]
 */
export function learnedAlong(
  trajectory: Trajectory,
  step: number,
  advantage: number,
  found: { logprobs: Float32Array; referenceLogprobs?: Float32Array; coefficients: Float32Array },
): LearnedTokens {
  const mask = Uint8Array.from(learnedMasks(trajectory).flatMap((bits) => [...bits]));
  const stretched = (values: ArrayLike<number>, rest: number) => {
    const whole = new Float32Array(mask.length).fill(rest);
    whole.set(values);
    return whole;
  };
  return {
    trajectoryId: trajectory.id,
    step,
    advantages: Float32Array.from(mask, (bit) => bit * advantage),
    learnerLogprobs: stretched(found.logprobs, NaN),
    referenceLogprobs: stretched(found.referenceLogprobs ?? [], NaN),
    coefficients: stretched(found.coefficients, 0),
  };
}
