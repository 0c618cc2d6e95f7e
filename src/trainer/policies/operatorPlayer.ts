import { seededOrder } from '../../env/tasks/seededOrder.js';
import { suggestionsOf } from '../../env/tools/suggest.js';
import type { MessagePlayer } from '../rollout/arena.js';
import { textIn } from '../warmStart/demonstrations.js';
import { oracleChanges } from '../warmStart/expertTurns.js';
import { functionAtFault } from '../warmStart/suggestedFix.js';
import { toolCall } from '../warmStart/turnText.js';
import { attempts } from './attempts.js';
import { ScriptedDialogue } from './scriptedDialogue.js';

/** `random-edit` takes the suggestions for a function at random, `operator-search` in the order in which they are listed. */
export type OperatorOrder = 'random-edit' | 'operator-search';

/**
 * What a policy is compared with: a player who is told the function at fault (the oracle's), tries the changes that undo the
 * operators which put bugs in, one at a time, and submits where the tests pass.
 * @param testRuns changes that it tries at most
 */
export const operatorPlayer = (order: OperatorOrder, testRuns: number): MessagePlayer => ({
  policyStep: 0,
  async converse(opening) {
    const { task, seed } = opening.plan;
    const changes = await oracleChanges(task, (path) => textIn(opening.root, path));
    const listed = changes.flatMap(({ path, before, after }) =>
      before === null || after === null ? [] : choices(path, before, after),
    );
    const ordered = order === 'random-edit' ? seededOrder(listed, String(seed), (call) => call) : listed;
    return new ScriptedDialogue(opening, attempts(ordered.slice(0, testRuns)));
  },
});

/** A call for each suggestion for the function in which two texts begin to differ. */
function choices(path: string, before: string, after: string): string[] {
  const name = functionAtFault(path, before, after);
  const suggestions = name === null ? [] : suggestionsOf(path, before, name);
  if ('problem' in suggestions) return [];
  return suggestions.map((_, index) => toolCall('choose', { path, name, number: index + 1 }));
}
