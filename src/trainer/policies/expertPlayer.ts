import type { MessagePlayer } from '../rollout/arena.js';
import { treeHere } from '../warmStart/demonstrations.js';
import { expertTurns } from '../warmStart/expertTurns.js';
import { ScriptedDialogue } from './scriptedDialogue.js';

/** What the expert says of a task whose oracle is no short edit. */
const givesUp = 'I cannot say the change in one short edit.';

/** The scripted expert who knows the oracle: what the tools, the tests and the grade allow at most. */
export const expertPlayer: MessagePlayer = {
  policyStep: 0,
  async converse(opening) {
    const turns = await expertTurns(opening.plan.task, treeHere(opening.root), 'edit');
    return new ScriptedDialogue(opening, (turns ?? [givesUp]).values());
  },
};
