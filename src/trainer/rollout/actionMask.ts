import type { Trajectory } from '../../trajectory/trajectory.js';

/**
 * Checks that the action mask is 1 on exactly what the policy sampled: of a turn all but the opening that exploration forced. Returns
 * one line a problem; none where all is well.
 * A demonstration was not sampled, so its tokens have no log-probabilities.
 */
export function checkActionMask(trajectory: Trajectory): string[] {
  return trajectory.nodes.flatMap((node, index) => {
    const problems: string[] = [];
    const tell = (problem: string) =>
      problems.push(`${trajectory.id}, node ${index} (${node.message.role}): ${problem}`);
    const { tokenIds, actionMask, logprobs, entropies, parent, forced = 0 } = node;
    const lengths = [tokenIds.length, actionMask.length, logprobs.length, entropies.length];
    if (lengths.some((length) => length !== tokenIds.length)) {
      tell(`arrays of different lengths (${lengths.join(', ')})`);
      return problems;
    }
    // A new branch may share nothing with those before it.
    const isRoot = index === 0 || node.branch !== undefined;
    if (parent === null ? !isRoot : parent < 0 || parent >= index) {
      tell(`its parent is ${parent}`);
    }
    const isTurn = node.message.role === 'assistant';
    if (forced > 0 && (!isTurn || forced >= tokenIds.length)) tell(`${forced} of ${tokenIds.length} tokens are forced`);
    const wasSampled = (at: number) => isTurn && at >= forced;
    const wrong = actionMask.findIndex((bit, at) => bit !== (wasSampled(at) ? 1 : 0));
    if (wrong >= 0) tell(`token ${wrong} has mask ${actionMask[wrong]}`);
    if (index === 0 && isTurn) tell('the first token of a sequence cannot be learned');
    if (trajectory.kind === 'demonstration') return problems;
    for (const [name, values] of [['log-probability', logprobs] as const, ['entropy', entropies] as const]) {
      const bad = values.findIndex((value, at) => (wasSampled(at) ? !Number.isFinite(value) : !Number.isNaN(value)));
      if (bad >= 0) tell(`token ${bad} has ${name} ${values[bad]}`);
    }
    return problems;
  });
}
