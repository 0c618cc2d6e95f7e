import type { DapoOptions } from './dapo.js';
import {
  advantageAt,
  logRatioAt,
  policyGradient,
  type PolicyGradient,
  type PolicyTrajectory,
  type SurrogateToken,
} from './policyGradient.js';

/**
 * The loss of CISPO (MiniMax-M1, arXiv 2506.13585, equations 4 and 5, negated): REINFORCE with a clipped weight. A ratio
 * out of bounds is cut, but the token keeps its gradient; the loss is averaged over tokens.
 *
 *   L = 1/(sum_i |o_i|) sum_i sum_t m_t -sg(clip(rho_t, 1 - low, 1 + high)) A_i lp_t
 *   dL/dlp_t = -m_t / (sum_i |o_i|) clip(rho_t) A_i
 *
 * The paper has no lower bound (clipLow 1) and a high upper one; TRL's epsilon_high is 1 + clipHigh here. Dual clip has no
 * meaning.
 */
export function cispoCoefficients(trajectory: PolicyTrajectory, options: DapoOptions): PolicyGradient {
  const { clipLow, clipHigh } = options;
  const surrogate = (t: number): SurrogateToken => {
    const ratio = Math.exp(logRatioAt(trajectory, t));
    const clip = ratio > 1 + clipHigh ? 'high' : ratio < 1 - clipLow ? 'low' : 'none';
    const slope = Math.max(1 - clipLow, Math.min(1 + clipHigh, ratio)) * advantageAt(trajectory, t);
    return { ratio, clip, slope, value: slope * trajectory.logprobs[t] };
  };
  return policyGradient(trajectory, surrogate, 1 / options.tokens, options);
}
