import type { RewardComponent } from '../../trajectory/grade.js';
import type { Trajectory } from '../../trajectory/trajectory.js';
import { hasChanged, playedCalls } from '../rollout/playedCalls.js';
import type { ShapingSettings } from '../run/shapingSettings.js';

const reading = new Set(['open', 'search', 'suspects', 'suggest']);

/**
 * How an episode used its tools (requirement R4), as a component in [-1, 1] whose weight is the cap:
 *
 *   score = clamp((rightTool * kinds - repeatedCall * repeats - unknownTool * unknown) / cap, -1, 1)
 *
 * kinds: of reading before the first change, changing, running the tests after a change and submitting, those that were done with
 * their own tool, each once, so that doing more of it is worth nothing. repeats: calls with the arguments of an earlier one and no
 * change since.
 */
export function toolUse(
  trajectory: Pick<Trajectory, 'nodes' | 'stopReason' | 'statistics'>,
  { toolUse: cap, rightTool, repeatedCall, unknownTool }: ShapingSettings,
): RewardComponent {
  const calls = playedCalls(trajectory);
  const firstChange = calls.findIndex(hasChanged);
  const before = firstChange < 0 ? calls : calls.slice(0, firstChange);
  const after = firstChange < 0 ? [] : calls.slice(firstChange);
  const kinds = [
    before.some(({ tool, went }) => reading.has(tool) && went),
    firstChange >= 0,
    after.some(({ tool }) => tool === 'run_tests' || tool === 'choose'),
    trajectory.stopReason === 'submitted',
  ].filter(Boolean).length;
  let repeats = 0;
  let seen = new Set<string>();
  for (const call of calls) {
    const key = JSON.stringify([call.tool, call.arguments]);
    if (hasChanged(call)) seen = new Set();
    else if (seen.has(key)) repeats++;
    else seen.add(key);
  }
  const unknown = trajectory.statistics.unknownTools;
  const sum = rightTool * kinds - repeatedCall * repeats - unknownTool * unknown;
  return {
    score: Math.max(-1, Math.min(1, sum / cap)),
    weight: cap,
    reason: `${kinds} of 4 kinds of work done with their tool, ${repeats} calls repeated, ${unknown} unknown tools`,
  };
}
