import { whiten } from './whiten.js';

/**
 * Advantages of REINFORCE++ (arXiv 2501.03262): no critic and no baseline of the group; the whole batch is the
 * baseline.
 *
 *   G_t = r - sum_{u >= t} p_u        A_t = (G_t - mean(G)) / sqrt(var(G) + 1e-8), over the batch's sampled tokens
 *
 * Rewards that come with the mean of their group taken out of them make this REINFORCE++-baseline (verl's
 * `reinforce_plus_plus_baseline`).
 * @param rewards one a trajectory: [batch]
 * @param masks 1 on the sampled tokens: [batch][time]
 * @param penalties what each token costs (kl.ts), 0 where the mask is 0: [batch][time]; null where nothing does
 * @returns one advantage a token, 0 where the mask is 0: [batch][time]; all 0 where all are equal
 */
export function reinforcePlusPlusAdvantages(
  rewards: readonly number[],
  masks: readonly Uint8Array[],
  penalties: readonly Float64Array[] | null,
): Float64Array[] {
  return whiten(
    rewards.map((reward, index) => rewardToGo(reward, masks[index].length, penalties?.[index] ?? null)),
    masks,
  );
}

function rewardToGo(reward: number, length: number, penalties: Float64Array | null): Float64Array {
  const returns = new Float64Array(length).fill(reward);
  if (penalties === null) return returns;
  let ahead = reward;
  for (let t = length - 1; t >= 0; t--) {
    ahead -= penalties[t];
    returns[t] = ahead;
  }
  return returns;
}
