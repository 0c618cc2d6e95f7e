import { equalRewards } from './advantages.js';

/**
 * The filter of dynamic sampling (DAPO, arXiv 2503.14476, section 3.2): the groups whose rewards differ, which alone give a
 * gradient. The step is filled up with new groups until there are enough of them.
 * @param rewards of each group: [groups][group]
 * @returns indices of the groups that stay, in their order
 */
export function informativeGroups(rewards: readonly (readonly (number | null)[])[]): number[] {
  return rewards.flatMap((group, index) => (equalRewards(group) ? [] : [index]));
}
