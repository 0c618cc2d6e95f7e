export type KlEstimator = 'k1' | 'k2' | 'k3';

/** An estimate of KL(pi || pi_ref) in nats from one token, and its derivative by the policy's log-probability. */
export interface KlEstimate {
  readonly value: number;
  readonly slope: number;
}

/**
 * Schulman's estimators of KL(pi || pi_ref) from one sampled token (http://joschu.net/blog/kl-approx.html), with
 * d = lp - lr:
 *
 *   k1 = d                      k1' = 1              unbiased, of high variance
 *   k2 = d^2 / 2                k2' = d              biased; its expected gradient is that of the KL
 *   k3 = exp(-d) + d - 1        k3' = 1 - exp(-d)    unbiased, never negative
 *
 * As a term of the loss k1 says nothing: the expectation of its gradient is 0. Its place is in the reward.
 * verl cuts k3 to [-10, 10], TRL does not; nor is it cut here.
 */
export const klEstimators: Readonly<Record<KlEstimator, (logprob: number, reference: number) => KlEstimate>> = {
  k1: (logprob, reference) => ({ value: logprob - reference, slope: 1 }),
  k2: (logprob, reference) => ({ value: (logprob - reference) ** 2 / 2, slope: logprob - reference }),
  k3: (logprob, reference) => {
    const ratio = Math.exp(reference - logprob);
    return { value: ratio - (reference - logprob) - 1, slope: 1 - ratio };
  },
};

/**
 * The KL penalty that a reward loses to each token (RLOO, arXiv 2402.14740; REINFORCE++, arXiv 2501.03262):
 *   p_t = m_t beta k_t
 * A number, not a term to differentiate: it is taken at the log-probabilities from before the step's first update.
 * @returns penalties in units of the reward: [time]
 */
export function klPenalties(
  actionMask: Uint8Array,
  oldLogprobs: Float32Array,
  referenceLogprobs: Float32Array,
  estimator: KlEstimator,
  klCoefficient: number,
): Float64Array {
  const estimate = klEstimators[estimator];
  return Float64Array.from(actionMask, (bit, t) =>
    bit === 0 ? 0 : klCoefficient * estimate(oldLogprobs[t], referenceLogprobs[t]).value,
  );
}
