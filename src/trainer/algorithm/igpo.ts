import { equalRewards, groupAdvantages } from './advantages.js';
import { turnReturns } from './turnReturns.js';

/** One rollout of a group: its whole reward, null where the machine failed, and what each turn earned. */
export interface IgpoEpisode {
  readonly reward: number | null;
  /** Information gained by each turn (informationGain.ts); the last one's is not looked at: [turns] */
  readonly gains: readonly number[];
}

/** r_i,k of IGPO: each turn its gain, the last one the outcome: [turns] */
export const igpoTurnRewards = ({ reward, gains }: IgpoEpisode): (number | null)[] =>
  gains.map((gain, turn) => (reward === null || turn === gains.length - 1 ? reward : gain));

/**
 * Advantages of IGPO (arXiv 2510.14967, section 3.3): the rewards of all turns of a group are made one scale, and each turn is
 * credited with what comes from it on, discounted.
 *
 *   a_i,k = (r_i,k - mean(r)) / (std(r) + eps) over all turns of the group        A_i,k = sum_{j >= k} gamma^(j - k) a_i,j
 *
 * @returns one advantage a turn; 0 for failed rollouts, and for all where all turn rewards are equal: [group][turns]
 */
export function igpoAdvantages(episodes: readonly IgpoEpisode[], gamma: number): number[][] {
  const rewards = episodes.map(igpoTurnRewards);
  if (equalRewards(rewards.flat())) return rewards.map((turns) => turns.map(() => 0));
  const all = groupAdvantages(rewards.flat()).advantages;
  let start = 0;
  return episodes.map(({ reward, gains }) => {
    const own = all.slice(start, (start += gains.length));
    return reward === null ? own.map(() => 0) : turnReturns(own, gamma);
  });
}
