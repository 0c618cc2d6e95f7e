import type { RewardComponent } from '../../trajectory/grade.js';
import type { ShapingSettings } from '../run/shapingSettings.js';

/**
 * What an episode's length costs (requirement R5), as a component in [-1, 0]:
 *
 *   linear    -min(lengthMost, lengthCost * max(0, T - target))
 *   sigmoid   r -> r * sigma(-(T - target) / width), so it takes r * (1 - sigma); a reward below 0 is left as it is, since a
 *             failure must not be better for being long
 *
 * @param tokens T: sampled tokens
 * @param target tokens from which on length costs
 * @param reward r: of all other components together
 */
export function lengthCost(
  tokens: number,
  target: number,
  reward: number,
  { length, lengthCost: rate, lengthMost, lengthWidth }: Omit<ShapingSettings, 'lengthTarget'>,
): RewardComponent {
  const reason = `${tokens} tokens sampled, ${target} are fine`;
  // Not -0 where nothing is too long.
  if (length === 'linear') {
    const cost = Math.min(lengthMost, rate * Math.max(0, tokens - target));
    return { score: lengthMost === 0 ? 0 : 0 - cost / lengthMost, weight: lengthMost, reason };
  }
  return { score: 0 - 1 / (1 + Math.exp((target - tokens) / lengthWidth)), weight: Math.max(0, reward), reason };
}
