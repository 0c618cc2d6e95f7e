/** What GRPO needs to know of one trajectory. Arrays are [time]; where the mask is 0 they are never looked at. */
export interface GrpoTrajectory {
  /** 1 on the tokens that the policy sampled: [time]. */
  readonly actionMask: Uint8Array;
  /** log pi(token) of the policy that is being trained: [time]. */
  readonly logprobs: Float32Array;
  /** log pi_old(token) of the policy before the step's first update: [time]. */
  readonly oldLogprobs: Float32Array;
  /** log pi_ref(token) of the reference policy; null where there is no KL term: [time]. */
  readonly referenceLogprobs: Float32Array | null;
  readonly advantage: number;
  /** True in a group of equal rewards, which gives no gradient: neither from the reward nor from the KL term. */
  readonly equalRewards: boolean;
}

export interface GrpoOptions {
  readonly clipLow: number;
  readonly clipHigh: number;
  /** beta of the KL term. */
  readonly klCoefficient: number;
  /** Trajectories that the whole step's loss is averaged over, so that the cut into micro-batches changes nothing. */
  readonly trajectories: number;
}

/** Sums over one trajectory's agent tokens; divide by `tokens` of all of them for a step's metric. */
export interface GrpoSums {
  readonly tokens: number;
  /** Tokens whose ratio was cut, so that the surrogate gives them no gradient. */
  readonly clipped: number;
  readonly ratio: number;
  /** k3 estimate of KL(pi || pi_ref), in nats; 0 where there is no reference. */
  readonly kl: number;
  /** The trajectory's part of the loss. */
  readonly loss: number;
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
export function grpoCoefficients(
  trajectory: GrpoTrajectory,
  options: GrpoOptions,
): { coefficients: Float32Array; sums: GrpoSums } {
  const { actionMask, logprobs, oldLogprobs, referenceLogprobs, advantage, equalRewards } = trajectory;
  const coefficients = new Float32Array(actionMask.length);
  const tokens = actionMask.reduce((sum, bit) => sum + bit, 0);
  const share = equalRewards ? 0 : 1 / (options.trajectories * tokens);
  let [clipped, ratioSum, klSum, loss] = [0, 0, 0, 0];
  for (let t = 0; t < actionMask.length; t++) {
    if (actionMask[t] === 0) continue;
    const surrogate = clippedSurrogate(logprobs[t] - oldLogprobs[t], advantage, options);
    const kl = referenceLogprobs === null ? noKl : k3(logprobs[t], referenceLogprobs[t]);
    if (surrogate.clipped) clipped += 1;
    ratioSum += surrogate.ratio;
    klSum += kl.value;
    if (equalRewards) continue;
    loss += share * (-surrogate.value + options.klCoefficient * kl.value);
    coefficients[t] = share * (-surrogate.slope + options.klCoefficient * kl.slope);
  }
  return { coefficients, sums: { tokens, clipped, ratio: ratioSum, kl: klSum, loss } };
}

const noKl = { value: 0, slope: 0 };

/** min(rho A, clip(rho) A) at rho = exp(logRatio), and its derivative by the log-probability. */
function clippedSurrogate(logRatio: number, advantage: number, { clipLow, clipHigh }: GrpoOptions) {
  const ratio = Math.exp(logRatio);
  const clipped = advantage > 0 ? ratio > 1 + clipHigh : advantage < 0 && ratio < 1 - clipLow;
  if (clipped) return { ratio, clipped, value: advantage * (advantage > 0 ? 1 + clipHigh : 1 - clipLow), slope: 0 };
  return { ratio, clipped, value: ratio * advantage, slope: ratio * advantage };
}

/** Schulman's k3 estimator of KL(pi || pi_ref) from one token (http://joschu.net/blog/kl-approx.html) and its derivative. */
function k3(logprob: number, reference: number) {
  const ratio = Math.exp(reference - logprob);
  return { value: ratio - (reference - logprob) - 1, slope: 1 - ratio };
}
