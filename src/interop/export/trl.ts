import type { ToolSchema } from '../../trajectory/message.js';
import type { Task } from '../../trajectory/task.js';
import { systemPrompt, taskPrompt } from '../../env/tools/prompts.js';
import type { ConversationMessage } from '../conversation.js';

/**
 * A row of a conversational prompt and completion for TRL: arguments are objects, and tools' messages carry their `name`. The
 * completion begins with the policy's first turn, so that TRL too learns from nothing before it.
 */
export function toTrl(messages: readonly ConversationMessage[], tools: readonly ToolSchema[]) {
  const rows = messages.map(toTrlMessage);
  const first = messages.findIndex(({ role }) => role === 'assistant');
  const cut = first < 0 ? rows.length : first;
  return { prompt: rows.slice(0, cut), completion: rows.slice(cut), tools };
}

function toTrlMessage(message: ConversationMessage): Readonly<Record<string, unknown>> {
  switch (message.role) {
    case 'assistant':
      return {
        role: 'assistant',
        content: message.malformedCall === undefined ? message.content : message.raw,
        ...(message.thinking === undefined ? {} : { reasoning_content: message.thinking }),
        ...(message.toolCalls.length === 0
          ? {}
          : {
              tool_calls: message.toolCalls.map(({ name, arguments: values }) => ({
                type: 'function',
                function: { name, arguments: values },
              })),
            }),
      };
    case 'tool':
      return { role: 'tool', name: message.name, content: message.content };
    default:
      return { role: message.role, content: message.content };
  }
}

/** A row of a dataset of prompts for TRL's GRPOTrainer; `task_id` is what an environment's `reset` is given. */
export function toTrlPrompt(task: Task, tools: readonly ToolSchema[]) {
  return {
    prompt: [
      { role: 'system', content: systemPrompt(tools) },
      { role: 'user', content: taskPrompt(task) },
    ],
    task_id: task.instance_id,
    split: task.whetstone.split,
  };
}
