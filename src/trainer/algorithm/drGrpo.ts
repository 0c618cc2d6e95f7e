import { relativeAdvantages, type GroupAdvantages } from './advantages.js';
import { clippedSurrogate, type ClipOptions } from './clippedSurrogate.js';
import {
  advantageAt,
  logRatioAt,
  policyGradient,
  type PenaltyOptions,
  type PolicyGradient,
  type PolicyTrajectory,
} from './policyGradient.js';

/**
 * Advantages of Dr. GRPO (arXiv 2503.20783, section 3.2): A_i = r_i - mean(r), not divided by the deviation, which would
 * favour tasks that are nearly always or nearly never solved.
 * @param rewards one a rollout of the same task, null where the machine failed: [group]
 * @param outcomes what equality is told by, where `rewards` have lost a penalty: [group]
 */
export function drGrpoAdvantages(
  rewards: readonly (number | null)[],
  outcomes: readonly (number | null)[] = rewards,
): GroupAdvantages {
  return relativeAdvantages(rewards, () => 1, outcomes);
}

export interface DrGrpoOptions extends ClipOptions, PenaltyOptions {
  /** Trajectories that the whole step's loss is averaged over. */
  readonly trajectories: number;
  /** Tokens that a trajectory could have had; a constant, so that long failures are not punished less. */
  readonly horizon: number;
}

/**
 * The loss of Dr. GRPO (arXiv 2503.20783, section 3.2): GRPO's, but divided by a constant in place of the trajectory's length.
 *
 *   L = 1/(N horizon) sum_i sum_t m_t [ -min(rho_t A_i, clip(rho_t) A_i) + beta kl_t ]
 */
export function drGrpoCoefficients(trajectory: PolicyTrajectory, options: DrGrpoOptions): PolicyGradient {
  return policyGradient(
    trajectory,
    (t) => clippedSurrogate(logRatioAt(trajectory, t), advantageAt(trajectory, t), options),
    1 / (options.trajectories * options.horizon),
    options,
  );
}
