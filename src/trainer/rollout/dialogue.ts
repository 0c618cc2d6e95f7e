import {
  isTurn,
  type AssistantMessage,
  type Message,
  type SystemMessage,
  type ToolMessage,
  type ToolSchema,
  type UserMessage,
} from '../../trajectory/message.js';
import { leaveOutObservations, restarted } from './contextWindow.js';
import type { EpisodePlan, SamplingOptions } from './episodePlan.js';
import { NodePath } from './nodes.js';

/** What an episode opens with. */
export interface Opening {
  readonly plan: EpisodePlan;
  readonly prompt: readonly [SystemMessage, UserMessage];
  readonly tools: readonly ToolSchema[];
  /** The episode's tree, where it is on this machine; else null. */
  readonly root: string | null;
  readonly options: SamplingOptions;
}

/** Where a dialogue begins: what is recorded already, and the conversation as the policy sees it. */
export interface Beginning {
  readonly path: NodePath;
  /** The messages before the first turn. */
  readonly prompt: readonly Message[];
  readonly messages: Message[];
  /** Turns that are behind it. */
  readonly turns: number;
}

/** What a policy goes on from: its summary, its thinking aside. */
export const notesOf = ({ content, raw }: AssistantMessage) => content || raw.trim();

/**
 * The prompt, or what the episode is a branch of up to there.
 * @param promptNodes the prompt's messages with their ids
 */
export function beginningOf(
  { plan, prompt, options }: Opening,
  promptNodes: () => readonly { readonly message: Message; readonly tokenIds: Int32Array }[],
): Beginning {
  if (plan.prefix === undefined) {
    const path = new NodePath();
    for (const { message, tokenIds } of promptNodes()) path.addGiven(message, tokenIds);
    return { path, prompt, messages: [...prompt], turns: 0 };
  }
  const { nodes } = plan.prefix;
  const firstTurn = nodes.findIndex(({ message }) => isTurn(message));
  const opened = nodes.slice(0, firstTurn < 0 ? undefined : firstTurn).map(({ message }) => message);
  let messages: Message[] = [];
  for (const { message, branch } of nodes) {
    // The node of a new branch tells the history anew; as messages only the window and a summary change it.
    if (branch === 'window') messages = leaveOutObservations(messages, options.keptObservations) ?? messages;
    else if (message.role === 'assistant' && message.aside === 'summary')
      messages = restarted(opened, notesOf(message));
    else if (branch === undefined) messages.push(message);
  }
  const turns = nodes.filter(({ message }) => isTurn(message)).length;
  return { path: NodePath.behind(nodes), prompt: opened, messages, turns };
}

/** Messages of who plays without token ids. */
export const withoutTokens = (messages: readonly Message[]) =>
  messages.map((message) => ({ message, tokenIds: new Int32Array(0) }));

/** One episode as who plays it sees it: turns out, observations in. */
export interface Dialogue {
  /** What is recorded so far. */
  readonly path: NodePath;
  /** The next turn; null where there is no room for one that could be answered. Throws `cancelled` where `signal` aborts. */
  next(signal: AbortSignal): Promise<AssistantMessage | null>;
  /** What the tools answered to the last turn. */
  observe(observations: readonly ToolMessage[]): void;
  end(): void;
}
