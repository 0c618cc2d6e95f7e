import type { Message } from './message.js';

/** A message as a person reads it where its tokens are not known: thinking, text, calls. */
export function messageText(message: Message): string {
  if (message.role !== 'assistant') return message.content;
  const calls = message.toolCalls.map((call) => `${call.name} ${JSON.stringify(call.arguments)}`);
  return [message.thinking, message.content, ...calls].filter(Boolean).join('\n');
}
