import type { ToolSchema } from '../../trajectory/message.js';
import type { ConversationMessage } from '../conversation.js';

/**
 * A conversation as OpenAI's chat completions take it (and its fine-tuning files): the arguments of a call are JSON text. An
 * answer to no call is a user's message, since a tool's must name the call that it answers.
 */
export function toOpenAi(messages: readonly ConversationMessage[], tools: readonly ToolSchema[]) {
  return { messages: messages.map(toOpenAiMessage), tools };
}

function toOpenAiMessage(message: ConversationMessage): Readonly<Record<string, unknown>> {
  switch (message.role) {
    case 'assistant':
      return {
        role: 'assistant',
        // What was meant as a call and is none is only in the raw text.
        content: message.malformedCall === undefined ? message.content : message.raw,
        ...(message.thinking === undefined ? {} : { reasoning_content: message.thinking }),
        ...(message.toolCalls.length === 0
          ? {}
          : {
              tool_calls: message.toolCalls.map((call) => ({
                id: call.id,
                type: 'function',
                function: { name: call.name, arguments: JSON.stringify(call.arguments) },
              })),
            }),
      };
    case 'tool':
      return message.toolCallId === null
        ? { role: 'user', content: message.content }
        : { role: 'tool', tool_call_id: message.toolCallId, content: message.content };
    default:
      return { role: message.role, content: message.content };
  }
}
