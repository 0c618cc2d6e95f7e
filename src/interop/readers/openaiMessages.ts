import { readChatMessages } from './chatMessage.js';
import { isObject, listOf, numberOf, objectOf, textOf, type JsonObject } from './json.js';
import { nodesOf, readTrajectory, type ReadTrajectory } from './readTrajectory.js';

/** Is this a conversation: messages by themselves, under `messages`, or as `prompt` and `completion` (TRL)? */
export function isOpenAiMessages(value: unknown): boolean {
  const messages = messagesIn(value);
  return messages.length > 0 && messages.every((message) => isObject(message) && typeof message.role === 'string');
}

/** A conversation in OpenAI's or TRL's form, with what may stand beside it: a reward, a task's id. */
export function readOpenAiMessages(value: unknown, where: string, fallbackTask: string): ReadTrajectory {
  const row = objectOf(value);
  const facts: JsonObject = { ...row, ...objectOf(row.metadata) };
  const reward =
    numberOf(facts.reward) ??
    (Number.isFinite(Number.parseFloat(textOf(facts.reward))) ? Number.parseFloat(textOf(facts.reward)) : undefined);
  const nodes = nodesOf(readChatMessages(messagesIn(value), where));
  return readTrajectory({
    taskId: textOf(facts.task_id) || textOf(facts.instance_id) || fallbackTask,
    nodes,
    model: textOf(facts.model) || null,
    rewards: reward === undefined ? null : { reward: { score: reward, weight: 1 } },
    resolved: facts.resolved === true || facts.resolved === 'true',
  });
}

function messagesIn(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  const row = objectOf(value);
  if (Array.isArray(row.messages)) return row.messages;
  return Array.isArray(row.prompt) && Array.isArray(row.completion)
    ? [...listOf(row.prompt), ...listOf(row.completion)]
    : [];
}
