import { clippedSurrogate, type ClipOptions } from './clippedSurrogate.js';
import {
  advantageAt,
  logRatioAt,
  policyGradient,
  type PenaltyOptions,
  type PolicyGradient,
  type PolicyTrajectory,
} from './policyGradient.js';

export interface DapoOptions extends ClipOptions, PenaltyOptions {
  /** Sampled tokens that the whole step's loss is averaged over. */
  readonly tokens: number;
}

/**
 * The token-level loss of DAPO (arXiv 2503.14476, equation 8, negated): every token of the step counts the same, so a
 * long trajectory counts more than a short one.
 *
 *   L = 1/(sum_i |o_i|) sum_i sum_t m_t [ -min(rho_t A_i, clip(rho_t, 1 - low, 1 + high) A_i) + beta kl_t ]
 *
 * The paper leaves the KL term out (beta 0). Its other parts: overlong.ts, dynamicSampling.ts.
 */
export function dapoCoefficients(trajectory: PolicyTrajectory, options: DapoOptions): PolicyGradient {
  return policyGradient(
    trajectory,
    (t) => clippedSurrogate(logRatioAt(trajectory, t), advantageAt(trajectory, t), options),
    1 / options.tokens,
    options,
  );
}
