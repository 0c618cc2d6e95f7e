/**
 * All pairs of a better and a worse rollout of one task, compared exactly: a group of equal rewards has none, so a loss over
 * pairs gives it no gradient.
 * @param rewards one a rollout, null where the machine failed: [group]
 * @returns indices into the group
 */
export function preferencePairs(rewards: readonly (number | null)[]): { chosen: number; rejected: number }[] {
  return rewards.flatMap((better, chosen) =>
    rewards.flatMap((worse, rejected) =>
      better !== null && worse !== null && better > worse ? [{ chosen, rejected }] : [],
    ),
  );
}
