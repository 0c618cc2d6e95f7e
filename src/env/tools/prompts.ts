import type { ToolSchema } from '../../trajectory/message.js';
import type { Task } from '../../trajectory/task.js';

/** How Hermes and Qwen models, and the embedded policy, write a tool call. */
export const taggedCall = '<tool_call>{"name": ..., "arguments": {...}}</tool_call>';

/** The fixed opening of every episode; the chat template adds the tools' schemas where it shows them. */
export function systemPrompt(tools: readonly ToolSchema[], callExample: string = taggedCall): string {
  return [
    'You fix bugs in a repository. Change the source so that the failing tests pass; changes to tests do not count.',
    `Tools: ${tools.map((tool) => tool.function.name).join(', ')}.`,
    `Call one with ${callExample}. Call submit when done.`,
  ].join('\n');
}

/** What the policy is asked to do: the task's problem statement, and nothing that gives the oracle away. */
export function taskPrompt(task: Task): string {
  return task.problem_statement;
}

const shownFiles = 10;

/** The answer to a first submission where the policy is to check its work. */
export function renderSelfCheck(changed: readonly string[]): string {
  const more = changed.length > shownFiles ? `, (+${changed.length - shownFiles} more)` : '';
  const files = changed.length === 0 ? 'nothing' : `${changed.slice(0, shownFiles).join(', ')}${more}`;
  return `Not submitted yet. You changed ${files}. Do the failing tests pass now, and is nothing else changed? Call submit again to hand in your work, or go on.`;
}
