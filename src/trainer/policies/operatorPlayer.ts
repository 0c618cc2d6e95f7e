import { findSuspects } from '../../env/suspects/findSuspects.js';
import type { Suspect } from '../../env/suspects/rankSuspects.js';
import { seededOrder } from '../../env/tasks/seededOrder.js';
import type { MessagePlayer } from '../rollout/arena.js';
import { treeHere } from '../warmStart/demonstrations.js';
import { oracleChanges } from '../warmStart/expertTurns.js';
import { suspectsAtFault } from '../warmStart/suggestedFix.js';
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
    const tree = treeHere(opening.root);
    const suspects = await findSuspects(task, tree);
    const changes = await oracleChanges(task, tree.read);
    const listed = changes.flatMap(({ path, before, after }) =>
      before === null || after === null ? [] : choices(suspects, path, before, after),
    );
    const ordered = order === 'random-edit' ? seededOrder(listed, String(seed), (call) => call) : listed;
    return new ScriptedDialogue(opening, attempts(ordered.slice(0, testRuns)));
  },
});

/** A call for each suggestion for the function in which two texts begin to differ. */
const choices = (suspects: readonly Suspect[], path: string, before: string, after: string): string[] =>
  suspectsAtFault(suspects, path, before, after).flatMap((number) =>
    suspects[number - 1].changes.map((_, index) => toolCall('choose', { function: number, number: index + 1 })),
  );
