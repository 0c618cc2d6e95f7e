import { cancelled } from '../../trajectory/errors.js';
import type { AssistantMessage, ToolMessage } from '../../trajectory/message.js';
import { beginningOf, withoutTokens, type Dialogue, type Opening } from '../rollout/dialogue.js';
import type { NodePath } from '../rollout/nodes.js';
import { parseAssistantText } from '../text/toolCalls.js';

/** Turns as text, one after the other; each `yield` gives what the tools answered to its turn. */
export type Script = Iterator<string, void, readonly ToolMessage[]>;

/** A dialogue of a player who is a program: its turns have no tokens. Behind the script's end it says nothing. */
export class ScriptedDialogue implements Dialogue {
  readonly path: NodePath;
  private observed: readonly ToolMessage[] = [];

  constructor(
    opening: Opening,
    private readonly script: Script,
  ) {
    this.path = beginningOf(opening, () => withoutTokens(opening.prompt)).path;
  }

  next(signal: AbortSignal): Promise<AssistantMessage | null> {
    if (signal.aborted) return Promise.reject(cancelled());
    const message = parseAssistantText(this.script.next(this.observed).value ?? '');
    const none = new Float32Array(0);
    const tokens = { tokenIds: new Int32Array(0), logprobs: none, entropies: none };
    this.path.addSampled(message, { ...tokens, finishReason: 'stop' });
    return Promise.resolve(message);
  }

  observe(observations: readonly ToolMessage[]): void {
    this.observed = observations;
    for (const message of observations) this.path.addGiven(message, new Int32Array(0));
  }

  end(): void {
    // There is nothing to give back.
  }
}
