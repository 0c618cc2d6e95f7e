/**
 * Rejection sampling: the rollouts of one task that are worth imitating (supervised.ts), those that reach `least`, and of
 * them the best `most` (RFT, arXiv 2308.01825, keeps all that are right; RAFT, arXiv 2304.06767, the best one). Among
 * equals the earlier one.
 * @param rewards one a rollout, null where the machine failed: [group]
 * @returns indices in the order of the group
 */
export function acceptedRollouts(
  rewards: readonly (number | null)[],
  { least, most = Infinity }: { least: number; most?: number },
): number[] {
  return rewards
    .flatMap((reward, index) => (reward !== null && reward >= least ? [{ reward, index }] : []))
    .sort((a, b) => b.reward - a.reward || a.index - b.index)
    .slice(0, most)
    .map(({ index }) => index)
    .sort((a, b) => a - b);
}
