import { klEstimators, type KlEstimator } from './kl.js';

/** What a policy-gradient loss needs to know of one trajectory. Arrays are [time]; where the mask is 0 they are never looked at. */
export interface PolicyTrajectory {
  /** 1 on the tokens that the policy sampled: [time]. */
  readonly actionMask: Uint8Array;
  /** log pi(token) of the policy that is being trained: [time]. */
  readonly logprobs: Float32Array;
  /** log pi_old(token) of the policy before the step's first update: [time]. */
  readonly oldLogprobs: Float32Array;
  /** log pi_ref(token) of the reference policy; null where there is no KL term: [time]. */
  readonly referenceLogprobs: Float32Array | null;
  /** Of the whole trajectory, or of each token: [time]. */
  readonly advantage: number | Float64Array;
  /** Corrects from the sampler's policy to the old one (importance.ts); absent: 1 everywhere. [time] */
  readonly importanceWeights?: Float64Array;
  /** Entropy of the policy at each token, in nats: [time]. Needed only with an entropy bonus, for the loss's value. */
  readonly entropies?: Float32Array;
  /** True in a group of equal rewards, which gives no gradient: from the reward, the KL term and the entropy alike. */
  readonly equalRewards: boolean;
}

/** The terms beside the surrogate. */
export interface PenaltyOptions {
  /** beta of the KL term in the loss. */
  readonly klCoefficient: number;
  /** k3 where absent. */
  readonly klEstimator?: KlEstimator;
  /** Weight of the entropy bonus; absent: none. */
  readonly entropyCoefficient?: number;
}

/** What is maximized at one token, and its derivative by the token's log-probability. */
export interface SurrogateToken {
  /** Importance ratio of the policy to the old one. */
  readonly ratio: number;
  readonly value: number;
  readonly slope: number;
  /** Which bound cut the ratio. */
  readonly clip: 'none' | 'low' | 'high' | 'dual';
}

/** Sums over one trajectory's agent tokens; divide by `tokens` of all of them for a step's metric. */
export interface PolicySums {
  readonly tokens: number;
  /** Tokens whose ratio was cut, and those of them that were cut from below and above. */
  readonly clipped: number;
  readonly clippedLow: number;
  readonly clippedHigh: number;
  /** Tokens that dual clip cut. */
  readonly clippedDual: number;
  readonly ratio: number;
  /** Estimate of KL(pi || pi_ref), in nats; 0 where there is no reference. */
  readonly kl: number;
  /** The trajectory's part of the loss. */
  readonly loss: number;
}

export interface PolicyGradient {
  /** dL/dlp, 0 where the mask is 0: [time]. */
  readonly coefficients: Float32Array;
  /** dL/dH, 0 where the mask is 0: [time]; null without an entropy bonus. */
  readonly entropyCoefficients: Float32Array | null;
  readonly sums: PolicySums;
}

/**
 * The part that all policy-gradient losses share. They differ in the surrogate of a token (what is maximized) and in the
 * share that each token has in the step's loss:
 *
 *   L = sum_t m_t share [ -w_t surrogate_t + beta kl_t - eta H_t ]
 *   dL/dlp_t = m_t share [ -w_t surrogate'_t + beta kl'_t ]        dL/dH_t = -m_t share eta
 *
 * The weights w correct the surrogate alone, as in TRL and verl; the KL term is differentiated as it stands. The entropy is
 * averaged as the loss is (verl); TRL averages it over tokens whatever the loss.
 * @param share of each token in the loss of the whole step, so that the cut into micro-batches changes nothing
 */
export function policyGradient(
  trajectory: PolicyTrajectory,
  surrogate: (t: number) => SurrogateToken,
  share: number,
  { klCoefficient, klEstimator = 'k3', entropyCoefficient = 0 }: PenaltyOptions,
): PolicyGradient {
  const { actionMask, logprobs, referenceLogprobs, importanceWeights, entropies, equalRewards } = trajectory;
  const coefficients = new Float32Array(actionMask.length);
  const entropyCoefficients = entropyCoefficient === 0 ? null : new Float32Array(actionMask.length);
  const clips = { none: 0, low: 0, high: 0, dual: 0 };
  let [ratioSum, klSum, loss] = [0, 0, 0];
  for (let t = 0; t < actionMask.length; t++) {
    if (actionMask[t] === 0) continue;
    const token = surrogate(t);
    const kl = referenceLogprobs === null ? noKl : klEstimators[klEstimator](logprobs[t], referenceLogprobs[t]);
    clips[token.clip] += 1;
    ratioSum += token.ratio;
    klSum += kl.value;
    if (equalRewards) continue;
    const weight = importanceWeights === undefined ? 1 : importanceWeights[t];
    loss += share * (-(weight * token.value) + klCoefficient * kl.value);
    coefficients[t] = share * (-(weight * token.slope) + klCoefficient * kl.slope);
    if (entropyCoefficients === null) continue;
    entropyCoefficients[t] = -share * entropyCoefficient;
    if (entropies !== undefined) loss -= share * entropyCoefficient * entropies[t];
  }
  const clipped = clips.low + clips.high + clips.dual;
  const tokens = clips.none + clipped;
  const sums = { tokens, clipped, clippedLow: clips.low, clippedHigh: clips.high, clippedDual: clips.dual };
  return { coefficients, entropyCoefficients, sums: { ...sums, ratio: ratioSum, kl: klSum, loss } };
}

const noKl = { value: 0, slope: 0 };

/** |o|: the tokens that the policy sampled. */
export const sampledTokens = (actionMask: Uint8Array) => actionMask.reduce((sum, bit) => sum + bit, 0);

export const advantageAt = ({ advantage }: PolicyTrajectory, t: number) =>
  typeof advantage === 'number' ? advantage : advantage[t];

/** log rho_t = lp_t - lp_old_t */
export const logRatioAt = ({ logprobs, oldLogprobs }: PolicyTrajectory, t: number) => logprobs[t] - oldLogprobs[t];
