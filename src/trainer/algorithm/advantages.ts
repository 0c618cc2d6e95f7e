/** Added to the standard deviation, as TRL does, so that nearly equal rewards do not explode. */
export const standardDeviationEpsilon = 1e-4;

/** Advantages of one group and what they were made from. */
export interface GroupAdvantages {
  /** One a rollout; 0 where the reward is null: [group]. */
  readonly advantages: readonly number[];
  readonly mean: number;
  readonly standardDeviation: number;
  /** True where every reward is the same (or at most one is known): the group teaches nothing. */
  readonly equalRewards: boolean;
}

/**
 * Group-relative advantages of GRPO (DeepSeekMath, arXiv 2402.03300, section 4.1.2):
 *   A_i = (r_i - mean(r)) / (std(r) + eps)
 * with the sample standard deviation (G - 1), as TRL computes it.
 * @param rewards one a rollout of the same task, null where the machine failed: [group]
 * @param outcomes what equality is told by, where `rewards` have lost a penalty: [group]
 */
export function groupAdvantages(
  rewards: readonly (number | null)[],
  outcomes: readonly (number | null)[] = rewards,
): GroupAdvantages {
  return relativeAdvantages(
    rewards,
    ({ standardDeviation }) => 1 / (standardDeviation + standardDeviationEpsilon),
    outcomes,
  );
}

/** True where all known rewards are the same, compared exactly: rounding never makes an advantage out of nothing. */
export function equalRewards(rewards: readonly (number | null)[]): boolean {
  const known = rewards.filter((reward) => reward !== null);
  return known.every((reward) => reward === known[0]);
}

/**
 * What the estimators of a group share: A_i = scale (r_i - mean(r)). A null reward (the machine failed, not the policy)
 * takes no part: mean and deviation are those of the rest. Where the outcomes are equal, or the rewards are, all are 0.
 */
export function relativeAdvantages(
  rewards: readonly (number | null)[],
  scale: (group: { known: number; standardDeviation: number }) => number,
  outcomes: readonly (number | null)[] = rewards,
): GroupAdvantages {
  const known = rewards.filter((reward) => reward !== null);
  const zeros = rewards.map(() => 0);
  if (known.length === 0) return { advantages: zeros, mean: 0, standardDeviation: 0, equalRewards: true };
  if (equalRewards(rewards)) {
    return { advantages: zeros, mean: known[0], standardDeviation: 0, equalRewards: true };
  }
  const mean = known.reduce((sum, reward) => sum + reward, 0) / known.length;
  const squares = known.reduce((sum, reward) => sum + (reward - mean) ** 2, 0);
  const standardDeviation = Math.sqrt(squares / (known.length - 1));
  if (equalRewards(outcomes)) return { advantages: zeros, mean, standardDeviation, equalRewards: true };
  const factor = scale({ known: known.length, standardDeviation });
  const advantages = rewards.map((reward) => (reward === null ? 0 : (reward - mean) * factor));
  return { advantages, mean, standardDeviation, equalRewards: false };
}
