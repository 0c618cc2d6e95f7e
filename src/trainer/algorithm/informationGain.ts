/**
 * Turn rewards of IGPO (arXiv 2510.14967): a turn earns what it adds to the policy's belief in the oracle's answer.
 *   r_k = exp(m_k) - exp(m_k-1)        m_k: mean log-probability of the answer's tokens, given the history after k turns
 * They sum to the belief gained in the whole episode; turnReturns.ts makes returns of them.
 * @param meanLogprobs before the first turn and after each: [turns + 1]
 * @returns [turns], each within [-1, 1]
 */
export function informationGains(meanLogprobs: readonly number[]): number[] {
  return meanLogprobs.slice(1).map((after, turn) => Math.exp(after) - Math.exp(meanLogprobs[turn]));
}
