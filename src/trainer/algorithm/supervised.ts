/**
 * Supervised learning from a demonstration, in coefficient form: L = -1/N sum_t m_t lp_t, so dL/dlp_t = -m_t / N.
 * @param actionMask 1 on the tokens to imitate: [time]
 * @param tokens N: imitated tokens of the whole step, so that the cut into micro-batches changes nothing
 * @returns dL/dlp: [time]
 */
export function supervisedCoefficients(actionMask: Uint8Array, tokens: number): Float32Array {
  return Float32Array.from(actionMask, (bit) => (bit === 1 ? -1 / tokens : 0));
}
