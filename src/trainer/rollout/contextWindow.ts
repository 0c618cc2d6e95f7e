import { isTurn, type Message } from '../../trajectory/message.js';
import type { TrajectoryNode } from '../../trajectory/trajectory.js';
import type { SamplingOptions } from './episodePlan.js';

/**
 * Tokens beyond which the context counts as full. With a dynamic threshold room is kept for a turn as long as the longest so far
 * with its answers (before the first: as long as a turn may be), and for a summary where one would be asked for.
 */
export function contextLimit(
  nodes: readonly TrajectoryNode[],
  maxContext: number,
  { contextThreshold, contextShare, contextSummary, maxTokensPerTurn }: SamplingOptions,
): number {
  if (contextThreshold === 'share') return contextShare * maxContext;
  const longest = Math.max(maxTokensPerTurn, longestTurn(nodes));
  return maxContext - longest - (contextSummary ? 2 * maxTokensPerTurn : 0);
}

/** Tokens of the longest turn with its answers. */
function longestTurn(nodes: readonly TrajectoryNode[]): number {
  let longest = 0;
  let tokens = 0;
  for (const { message, tokenIds } of nodes) {
    if (isTurn(message)) tokens = tokenIds.length;
    else if (message.role === 'tool') tokens += tokenIds.length;
    longest = Math.max(longest, tokens);
  }
  return longest;
}

/** What stands in place of an observation that was left out. */
export const leftOut = '(older output left out)';

/**
 * The conversation with the content of all observations but the last `kept` left out; null where nothing would change. An
 * observation that is shorter than the note in its place stays.
 */
export function leaveOutObservations(messages: readonly Message[], kept: number): Message[] | null {
  const observations = messages.flatMap(({ role }, index) => (role === 'tool' ? [index] : []));
  const old = new Set(observations.slice(0, Math.max(0, observations.length - kept)));
  let changed = false;
  const shorter = messages.map((message, index) => {
    if (message.role !== 'tool' || !old.has(index) || message.content.length <= leftOut.length) return message;
    changed = true;
    return { ...message, content: leftOut };
  });
  return changed ? shorter : null;
}

const askForSummary = `(The context is almost full. Write in a few lines, without calling a tool: what is wrong and where, what you changed, what is left to do. You go on from these lines alone.)`;

/** The conversation with a wish for a summary behind the last observation; null where nothing was observed yet. */
export function askedForSummary(messages: readonly Message[]): Message[] | null {
  const last = messages.at(-1);
  if (last?.role !== 'tool') return null;
  return [...messages.slice(0, -1), { ...last, content: `${last.content}\n${askForSummary}` }];
}

/** The conversation that goes on from a summary: the prompt, with the summary in it. */
export function restarted(prompt: readonly Message[], summary: string): Message[] {
  return prompt.map((message, index) =>
    index === prompt.length - 1 && message.role === 'user'
      ? { ...message, content: `${message.content}\n\nYour notes on what you did so far:\n${summary}` }
      : message,
  );
}
