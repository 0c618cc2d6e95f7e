import { clippedSurrogate } from './clippedSurrogate.js';
import type { GrpoOptions } from './grpo.js';
import {
  advantageAt,
  logRatioAt,
  policyGradient,
  sampledTokens,
  type PolicyGradient,
  type PolicyTrajectory,
} from './policyGradient.js';

/**
 * The loss of GSPO (arXiv 2507.18071, equations 5 and 7, negated): one ratio for the trajectory, the geometric mean of its
 * tokens', which is cut or counts as a whole.
 *
 *   s_i = exp(1/|o_i| sum_t m_t (lp_t - lp_old_t))
 *   L = 1/N sum_i -min(s_i A_i, clip(s_i, 1 - low, 1 + high) A_i)  [+ beta kl as in GRPO]
 *   dL/dlp_t = -m_t / (N |o_i|) s_i A_i, or 0 where a bound holds
 *
 * Where advantages or weights differ from token to token this is GSPO-token (equation 13): each token has
 * s_t = sg(s_i) exp(lp_t - sg(lp_t)), so its own advantage and weight alone meet its own log-probability.
 * The bounds are far narrower than GRPO's: the paper uses 3e-4 and 4e-4.
 */
export function gspoCoefficients(trajectory: PolicyTrajectory, options: GrpoOptions): PolicyGradient {
  const { actionMask } = trajectory;
  const tokens = sampledTokens(actionMask);
  const logRatio = actionMask.reduce((sum, bit, t) => (bit === 0 ? sum : sum + logRatioAt(trajectory, t)), 0) / tokens;
  return policyGradient(
    trajectory,
    (t) => clippedSurrogate(logRatio, advantageAt(trajectory, t), options),
    1 / (options.trajectories * tokens),
    options,
  );
}
