/**
 * Unbiased estimate of pass@k, the probability that at least one of k episodes succeeds (Codex, arXiv 2107.03374,
 * equation 1): 1 - C(n - c, k) / C(n, k), as a product, so that nothing overflows.
 * @param n episodes of one task
 * @param successes c of them
 * @returns null where fewer than k episodes were played: nothing unbiased is known then
 */
export function passAtK(n: number, successes: number, k: number): number | null {
  if (k > n) return null;
  let allFail = 1;
  for (let i = 0; i < k; i++) allFail *= Math.max(0, n - successes - i) / (n - i);
  return 1 - allFail;
}
