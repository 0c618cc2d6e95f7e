import type { Message } from '../../trajectory/message.js';

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
