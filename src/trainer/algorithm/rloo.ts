import { relativeAdvantages, type GroupAdvantages } from './advantages.js';

/**
 * Advantages of REINFORCE leave-one-out (RLOO, arXiv 2402.14740): each reward against the mean of the others.
 *   A_i = r_i - 1/(G - 1) sum_{j != i} r_j = G/(G - 1) (r_i - mean(r))
 * @param rewards one a rollout of the same task, null where the machine failed: [group]
 * @param outcomes what equality is told by, where `rewards` have lost a penalty: [group]
 */
export function rlooAdvantages(
  rewards: readonly (number | null)[],
  outcomes: readonly (number | null)[] = rewards,
): GroupAdvantages {
  return relativeAdvantages(rewards, ({ known }) => known / (known - 1), outcomes);
}
