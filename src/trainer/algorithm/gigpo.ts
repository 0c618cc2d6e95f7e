import { groupAdvantages } from './advantages.js';
import { drGrpoAdvantages } from './drGrpo.js';
import { turnReturns } from './turnReturns.js';

/** One rollout of a group, turn by turn. */
export interface GigpoEpisode {
  /** Whole reward; null where the machine failed. */
  readonly reward: number | null;
  /** What the policy saw before each turn (or a digest of it): states that are the same have the same key. [turns] */
  readonly states: readonly string[];
  /** Reward of each turn, the outcome at the last: [turns] */
  readonly turnRewards: readonly number[];
}

export interface GigpoOptions {
  /** Discount from turn to turn. */
  readonly gamma: number;
  /** omega: weight of the step-level advantage. */
  readonly stepWeight: number;
  /** Whether both advantages are divided by the deviation of their group (F_norm of the paper: std, or 1). */
  readonly normalize: boolean;
}

/**
 * Advantages of GiGPO (arXiv 2505.10978, equations 3 to 8): turns that began in the same state, in whichever rollouts of the
 * group, are compared with each other by their discounted returns.
 *
 *   A_i,k = A_episode(i) + omega A_step(i, k)
 *   A_episode(i) = (R_i - mean(R)) / F(R)
 *   A_step(i, k) = (G_i,k - mean(G of the turns in the same state)) / F(G of them)
 *
 * A state that was seen once has a step advantage of exactly 0, and so has one whose returns are all equal. Rollouts with equal
 * rewards may still differ by a step: with gamma below 1 the shorter way from a state to the goal is the better one.
 * Deviations have the epsilon of advantages.ts; the authors add 1e-6.
 * @returns one advantage a turn; 0 for failed rollouts: [group][turns]
 */
export function gigpoAdvantages(
  episodes: readonly GigpoEpisode[],
  { gamma, stepWeight, normalize }: GigpoOptions,
): number[][] {
  const relative = normalize ? groupAdvantages : drGrpoAdvantages;
  const byEpisode = relative(episodes.map(({ reward }) => reward)).advantages;
  const stateGroups = new Map<string, { episode: number; turn: number; value: number }[]>();
  episodes.forEach(({ reward, states, turnRewards }, episode) => {
    if (reward === null) return;
    const returns = turnReturns(turnRewards, gamma);
    states.forEach((state, turn) => {
      const group = stateGroups.get(state) ?? [];
      stateGroups.set(state, [...group, { episode, turn, value: returns[turn] }]);
    });
  });
  const advantages = episodes.map(({ states }, episode) => states.map(() => byEpisode[episode]));
  for (const group of stateGroups.values()) {
    const byStep = relative(group.map(({ value }) => value)).advantages;
    group.forEach(({ episode, turn }, index) => (advantages[episode][turn] += stepWeight * byStep[index]));
  }
  return advantages;
}
