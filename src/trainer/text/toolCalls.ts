import type { AssistantMessage, ToolCall } from '../../trajectory/message.js';

/** Tags of thinking and tool calls that Hermes and Qwen models write. */
export const turnTags = ['<think>', '</think>', '<tool_call>', '</tool_call>'] as const;

const [thinkOpen, thinkClose, callOpen, callClose] = turnTags;

/**
 * Parses a sampled turn: thinking, then text and tool calls in any order. A call is
 * `<tool_call>{"name": ..., "arguments": {...}}</tool_call>`; the last closing tag may be missing.
 * Never throws: what was meant as a call and is none is told in `malformedCall`.
 */
export function parseAssistantText(raw: string): AssistantMessage {
  const { thinking, rest } = splitThinking(raw);
  const toolCalls: ToolCall[] = [];
  const text: string[] = [];
  let malformed: string | null = null;
  let position = 0;
  for (;;) {
    const open = rest.indexOf(callOpen, position);
    text.push(rest.slice(position, open < 0 ? undefined : open));
    if (open < 0) break;
    const call = parseCall(rest, open + callOpen.length);
    position = call.end;
    if ('problem' in call) malformed ??= call.problem;
    else toolCalls.push({ id: `call-${toolCalls.length}`, name: call.name, arguments: call.arguments });
  }
  const content = text.join('').trim();
  malformed ??= strayCall(content);
  return {
    role: 'assistant',
    content,
    ...(thinking === null ? {} : { thinking }),
    toolCalls,
    ...(malformed === null ? {} : { malformedCall: malformed }),
    raw,
  };
}

/** Thinking is what stands before `</think>`; the opening tag may have been part of the prompt. */
function splitThinking(raw: string): { thinking: string | null; rest: string } {
  const opened = raw.trimStart().startsWith(thinkOpen);
  const body = opened ? raw.slice(raw.indexOf(thinkOpen) + thinkOpen.length) : raw;
  const close = body.indexOf(thinkClose);
  const firstCall = body.indexOf(callOpen);
  // Without an opening tag, a closing tag after a call belongs to that call's arguments.
  if (close >= 0 && (opened || firstCall < 0 || close < firstCall))
    return { thinking: body.slice(0, close).trim(), rest: body.slice(close + thinkClose.length) };
  return opened ? { thinking: body.trim(), rest: '' } : { thinking: null, rest: raw };
}

type ParsedCall =
  | { readonly end: number; readonly name: string; readonly arguments: Readonly<Record<string, unknown>> }
  | { readonly end: number; readonly problem: string };

/** Parses the call whose opening tag ends at `start`; `end` is where the text goes on. */
function parseCall(text: string, start: number): ParsedCall {
  const close = text.indexOf(callClose, start);
  const skip = close < 0 ? text.length : close + callClose.length;
  const json = objectAt(text, start);
  if (json === null) return { end: skip, problem: 'the text in <tool_call> is not a whole JSON object' };
  const after = text.slice(json.end).trimStart();
  const end = after === '' ? text.length : text.length - after.length + callClose.length;
  if (after !== '' && !after.startsWith(callClose))
    return { end: skip, problem: 'there is text between the JSON object and </tool_call>' };
  let value: unknown;
  try {
    value = JSON.parse(json.text);
  } catch {
    return { end, problem: 'the text in <tool_call> is not valid JSON' };
  }
  if (!isRecord(value) || typeof value.name !== 'string') return { end, problem: 'the call has no "name"' };
  if (!isRecord(value.arguments)) return { end, problem: 'the call has no "arguments" object' };
  return { end, name: value.name, arguments: value.arguments };
}

/** The JSON object that starts at the first non-blank character from `start`, by its braces outside strings. */
function objectAt(text: string, start: number): { text: string; end: number } | null {
  let begin = start;
  while (/\s/.test(text[begin] ?? '')) begin++;
  if (text[begin] !== '{') return null;
  let depth = 0;
  let inString = false;
  for (let i = begin; i < text.length; i++) {
    const character = text[i];
    if (inString) {
      if (character === '\\') i++;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === '{') depth++;
    else if (character === '}' && --depth === 0) return { text: text.slice(begin, i + 1), end: i + 1 };
  }
  return null;
}

/** A closing tag without its call, or a call's JSON without tags. */
function strayCall(content: string): string | null {
  if (content.includes(callClose)) return '</tool_call> stands without <tool_call>';
  return /^\{\s*"name"\s*:/.test(content) ? 'a call must stand between <tool_call> and </tool_call>' : null;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
