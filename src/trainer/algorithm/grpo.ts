import { clippedSurrogate, type ClipOptions } from './clippedSurrogate.js';
import {
  advantageAt,
  logRatioAt,
  policyGradient,
  sampledTokens,
  type PenaltyOptions,
  type PolicyGradient,
  type PolicyTrajectory,
} from './policyGradient.js';

/** As in the paper: one advantage for the whole trajectory. */
export type GrpoTrajectory = PolicyTrajectory & { readonly advantage: number };

export interface GrpoOptions extends ClipOptions, PenaltyOptions {
  /** Trajectories that the whole step's loss is averaged over, so that the cut into micro-batches changes nothing. */
  readonly trajectories: number;
}

/**
 * The loss of GRPO (DeepSeekMath, arXiv 2402.03300, equation 3, negated) and its derivative by each log-probability:
 *
 *   L = 1/N sum_i 1/|o_i| sum_t m_t [ -min(rho_t A_i, clip(rho_t, 1 - low, 1 + high) A_i) + beta k3_t ]
 *   rho_t = exp(lp_t - lp_old_t)        k3_t = exp(lr_t - lp_t) - (lr_t - lp_t) - 1
 *
 *   dL/dlp_t = m_t / (N |o_i|) [ -rho_t A_i (0 where clipped) + beta (1 - exp(lr_t - lp_t)) ]
 *
 * The KL term is differentiated as it stands, as TRL does. One departure: a group of equal rewards is silent altogether,
 * while TRL lets its KL term pull.
 * @returns coefficients dL/dlp [time], 0 where the mask is 0, and the trajectory's sums
 */
export function grpoCoefficients(trajectory: PolicyTrajectory, options: GrpoOptions): PolicyGradient {
  const share = 1 / (options.trajectories * sampledTokens(trajectory.actionMask));
  return policyGradient(
    trajectory,
    (t) => clippedSurrogate(logRatioAt(trajectory, t), advantageAt(trajectory, t), options),
    share,
    options,
  );
}
