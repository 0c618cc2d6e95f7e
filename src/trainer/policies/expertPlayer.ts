import type { AssistantMessage, ToolMessage } from '../../trajectory/message.js';
import { cancelled } from '../../trajectory/errors.js';
import type { MessagePlayer } from '../rollout/arena.js';
import { beginningOf, withoutTokens, type Dialogue, type Opening } from '../rollout/dialogue.js';
import type { NodePath } from '../rollout/nodes.js';
import { parseAssistantText } from '../text/toolCalls.js';
import { textIn } from '../warmStart/demonstrations.js';
import { expertTurns } from '../warmStart/expertTurns.js';

/** What the expert says of a task whose oracle is no short edit. */
const givesUp = 'I cannot say the change in one short edit.';

/** The scripted expert who knows the oracle: what the tools, the tests and the grade allow at most. */
export const expertPlayer: MessagePlayer = {
  policyStep: 0,
  async converse(opening) {
    const turns = await expertTurns(opening.plan.task, (path) => textIn(opening.root, path));
    return new ScriptedDialogue(opening, turns ?? [givesUp]);
  },
};

/** Says its turns one after the other, whatever the tools answer. */
class ScriptedDialogue implements Dialogue {
  readonly path: NodePath;
  private said = 0;

  constructor(
    opening: Opening,
    private readonly turns: readonly string[],
  ) {
    this.path = beginningOf(opening, () => withoutTokens(opening.prompt)).path;
  }

  next(signal: AbortSignal): Promise<AssistantMessage | null> {
    if (signal.aborted) return Promise.reject(cancelled());
    const message = parseAssistantText(this.turns[this.said++] ?? '');
    const none = new Float32Array(0);
    this.path.addSampled(message, {
      tokenIds: new Int32Array(0),
      logprobs: none,
      entropies: none,
      finishReason: 'stop',
    });
    return Promise.resolve(message);
  }

  observe(observations: readonly ToolMessage[]): void {
    for (const message of observations) this.path.addGiven(message, new Int32Array(0));
  }

  end(): void {
    // There is nothing to give back.
  }
}
