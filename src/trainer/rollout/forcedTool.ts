import type { ToolSchema } from '../../trajectory/message.js';
import type { TokenConstraint } from '../text/grammar/tokenConstraint.js';
import { deriveSeed } from './seeds.js';

/**
 * Exploration by epsilon-greedy choice, of the tool alone: with probability `epsilon` a turn begins with the call of a tool that is
 * drawn uniformly, whatever the policy would have done. A function of the turn's own seed and of nothing else, and drawn beside the
 * stream that its tokens are sampled by, so that turns which are not forced are sampled as without it.
 * @returns null where the policy begins the turn itself
 */
export function forcedTool(turnSeed: number, epsilon: number, tools: readonly ToolSchema[]): ToolSchema | null {
  if (epsilon === 0 || tools.length === 0) return null;
  if (uniform(turnSeed, 'is a tool forced') >= epsilon) return null;
  return tools[Math.floor(uniform(turnSeed, 'which tool') * tools.length)]!;
}

/** In [0, 1). */
const uniform = (seed: number, what: string) => deriveSeed(seed, what) / 2 ** 32;

/** The constraint behind ids that a turn was made to begin with. */
export function constraintBehind(constraint: TokenConstraint, forced: Int32Array): TokenConstraint {
  return () => {
    const cursor = constraint();
    for (const id of forced) cursor.push(id);
    return cursor;
  };
}
