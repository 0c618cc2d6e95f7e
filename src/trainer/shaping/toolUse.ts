import type { RewardComponent } from '../../trajectory/grade.js';
import type { Trajectory } from '../../trajectory/trajectory.js';
import { hasChanged, isTesting, playedCalls, testCounts, type PlayedCall } from '../rollout/playedCalls.js';
import type { ShapingSettings } from '../run/shapingSettings.js';

const reading = new Set(['open', 'search', 'suspects', 'suggest']);
/** What these answer follows from the tree at the start, whatever was changed since. */
const ofStartTree = new Set(['suspects', 'suggest', 'choose']);

/**
 * How an episode used its tools (requirement R4), as a component in [-1, 1] whose weight is the cap:
 *
 *   score = clamp((rightTool * kinds - repeatedCall * repeats - unknownTool * unknown - givenUp * isGivenUp) / cap, -1, 1)
 *
 * kinds: of reading before the first change, changing, running the tests after a change and submitting, those that were done with
 * their own tool, each once, so that doing more of it is worth nothing. repeats: calls with the arguments of an earlier one and no
 * change since that could make another answer. isGivenUp: 1 where the policy submitted though the tests, when it ran them last, did
 * not all pass; without a cost of that, fewer calls are the easiest way to fewer repeated ones.
 */
export function toolUse(
  trajectory: Pick<Trajectory, 'nodes' | 'stopReason' | 'statistics'>,
  { toolUse: cap, rightTool, repeatedCall, unknownTool, givenUp }: ShapingSettings,
): RewardComponent {
  const calls = playedCalls(trajectory);
  const firstChange = calls.findIndex(hasChanged);
  const before = firstChange < 0 ? calls : calls.slice(0, firstChange);
  const after = firstChange < 0 ? [] : calls.slice(firstChange);
  const kinds = [
    before.some(({ tool, went }) => reading.has(tool) && went),
    firstChange >= 0,
    after.some(({ tool }) => isTesting(tool)),
    trajectory.stopReason === 'submitted',
  ].filter(Boolean).length;
  const repeats = countRepeats(calls);
  const unknown = trajectory.statistics.unknownTools;
  const gaveUp = trajectory.stopReason === 'submitted' && hasFailedLast(calls);
  const sum = rightTool * kinds - repeatedCall * repeats - unknownTool * unknown - (gaveUp ? givenUp : 0);
  return {
    score: Math.max(-1, Math.min(1, sum / cap)),
    weight: cap,
    reason: `${kinds} of 4 kinds of work done with their tool, ${repeats} calls repeated, ${unknown} unknown tools${gaveUp ? ', submitted while tests failed' : ''}`,
  };
}

function countRepeats(calls: readonly PlayedCall[]): number {
  let repeats = 0;
  const seenOfStartTree = new Set<string>();
  let seen = new Set<string>();
  for (const call of calls) {
    if (hasChanged(call)) seen = new Set();
    const answersSame = ofStartTree.has(call.tool);
    if (hasChanged(call) && !answersSame) continue;
    const known = answersSame ? seenOfStartTree : seen;
    const key = JSON.stringify([call.tool, call.arguments]);
    if (known.has(key)) repeats++;
    known.add(key);
  }
  return repeats;
}

function hasFailedLast(calls: readonly PlayedCall[]): boolean {
  const last = calls.findLast(({ tool }) => isTesting(tool));
  return last !== undefined && testCounts(last)?.failed !== 0;
}
