import type { ScoredSequence } from './scoredSequence.js';

/** Where 1 - p is below this the loss goes on in a straight line, so that its slope stays finite. */
const leastDoubt = 1e-5;
const mostLogprob = Math.log1p(-leastDoubt);

/**
 * Unlikelihood of a negative example (arXiv 1908.04319), beside supervised learning from the positive ones:
 *
 *   L = weight/N sum_t m_t -log(1 - exp(lp_t))        dL/dlp_t = m_t weight/N exp(lp_t) / (1 - exp(lp_t))
 *
 * The slope by the logits is at most the weight, so a negative example never pushes harder than a positive one pulls.
 * @param tokens N: tokens of the whole step, positive and negative, so that the cut into micro-batches changes nothing
 * @returns coefficients dL/dlp, 0 where the mask is 0: [time]
 */
export function unlikelihoodCoefficients(
  { actionMask, logprobs }: ScoredSequence,
  tokens: number,
  weight = 1,
): { coefficients: Float32Array; loss: number } {
  const coefficients = new Float32Array(actionMask.length);
  let loss = 0;
  for (let t = 0; t < actionMask.length; t++) {
    if (actionMask[t] === 0) continue;
    const logprob = Math.min(mostLogprob, logprobs[t]);
    const slope = 1 / Math.expm1(-logprob);
    loss += (weight / tokens) * (-Math.log(-Math.expm1(logprob)) + slope * (logprobs[t] - logprob));
    coefficients[t] = (weight / tokens) * slope;
  }
  return { coefficients, loss };
}
