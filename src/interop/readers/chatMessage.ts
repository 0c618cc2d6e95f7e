import type { AssistantMessage, Message, ToolCall } from '../../trajectory/message.js';
import { say } from '../../trajectory/said.js';
import { isObject, listOf, objectOf, textOf, wrong, type JsonObject } from './json.js';

/**
 * Messages as OpenAI's chat completions have them, and its many dialects: content as a text, as parts, or null; arguments of a
 * call as JSON text or as an object; calls flat or under `function`. A tool's message without a name gets its call's.
 * Throws bad-input for a role that is none.
 */
export function readChatMessages(values: readonly unknown[], where: string): Message[] {
  const names = new Map<string, string>();
  return values.map((value, index) => {
    const here = `${where}: message ${index + 1}`;
    if (!isObject(value)) throw wrong(here, say`it is no object`);
    const message = readMessage(value, names, here);
    if (message.role === 'assistant') for (const { id, name } of message.toolCalls) names.set(id, name);
    return message;
  });
}

function readMessage(value: JsonObject, names: ReadonlyMap<string, string>, where: string): Message {
  const content = readContent(value.content);
  switch (value.role) {
    case 'system':
    case 'developer':
      return { role: 'system', content };
    case 'user':
      return { role: 'user', content };
    case 'tool':
    case 'function': {
      const toolCallId = textOf(value.tool_call_id) || textOf(listOf(value.tool_call_ids)[0]);
      const name = textOf(value.name) || textOf(value.function) || names.get(toolCallId) || 'tool';
      return { role: 'tool', toolCallId, name, content };
    }
    case 'assistant':
      return readAssistant(value, content);
    default:
      throw wrong(where, say`there is no role ${JSON.stringify(value.role)}`);
  }
}

/** A sampled turn. `raw` is its content: what was sampled besides, the record does not hold. */
function readAssistant(value: JsonObject, content: string): AssistantMessage {
  const thinking = textOf(value.reasoning_content) || textOf(value.reasoning) || readThinking(value.content);
  const toolCalls: ToolCall[] = [];
  let malformedCall: string | undefined;
  const calls = [...listOf(value.tool_calls), ...(isObject(value.function_call) ? [value.function_call] : [])];
  for (const [index, entry] of calls.entries()) {
    const call = readCall(objectOf(entry), index);
    if ('problem' in call) malformedCall ??= call.problem;
    else toolCalls.push(call);
  }
  return {
    role: 'assistant',
    content,
    ...(thinking === '' ? {} : { thinking }),
    toolCalls,
    ...(malformedCall === undefined ? {} : { malformedCall }),
    raw: content,
  };
}

function readCall(entry: JsonObject, index: number): ToolCall | { readonly problem: string } {
  const called = isObject(entry.function) ? entry.function : entry;
  const name = textOf(called.name) || textOf(entry.function);
  if (name === '') return { problem: 'the call has no name' };
  const id = textOf(entry.id) || `call-${index}`;
  const given = called.arguments ?? {};
  if (isObject(given)) return { id, name, arguments: given };
  try {
    const parsed: unknown = JSON.parse(textOf(given) || '{}');
    if (isObject(parsed)) return { id, name, arguments: parsed };
  } catch {
    // Told below, like any other text that is no object.
  }
  return { problem: `the arguments of ${name} are no JSON object` };
}

const partTexts: Readonly<Record<string, string>> = { text: 'text', input_text: 'text', output_text: 'text' };

function readContent(content: unknown): string {
  if (!Array.isArray(content)) return textOf(content);
  return content
    .map((part) => {
      if (typeof part === 'string') return part;
      const { type, ...fields } = objectOf(part);
      const field = partTexts[textOf(type)];
      if (field !== undefined) return textOf(fields[field]);
      return type === 'reasoning' || type === 'thinking' ? '' : `[${textOf(type) || 'part'}]`;
    })
    .join('');
}

function readThinking(content: unknown): string {
  return listOf(content)
    .map(objectOf)
    .map((part) =>
      part.type === 'reasoning' ? textOf(part.reasoning) : part.type === 'thinking' ? textOf(part.thinking) : '',
    )
    .join('');
}
