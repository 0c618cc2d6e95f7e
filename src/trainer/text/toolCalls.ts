import type { AssistantMessage, ToolSchema } from '../../trajectory/message.js';
import { hermes } from './toolFormats/hermes.js';
import type { ToolFormat } from './toolFormats/toolFormat.js';

/** Tags of thinking. */
export const thinkTags = ['<think>', '</think>'] as const;

const [thinkOpen, thinkClose] = thinkTags;

/**
 * Parses a sampled turn: thinking, then text and tool calls as `format` has them. Never throws: what was meant as a call
 * and is none is told in `malformedCall`.
 */
export function parseAssistantText(
  raw: string,
  format: ToolFormat = hermes,
  tools: readonly ToolSchema[] = [],
): AssistantMessage {
  const { thinking, rest } = splitThinking(raw, format);
  const { content, calls, problem } = format.find(rest, tools);
  return {
    role: 'assistant',
    content,
    ...(thinking === null ? {} : { thinking }),
    toolCalls: calls.map(({ name, arguments: args, id }, index) => ({
      id: id ?? `call-${index}`,
      name,
      arguments: args,
    })),
    ...(problem === null ? {} : { malformedCall: problem }),
    raw,
  };
}

/** Thinking is what stands before `</think>`; the opening tag may have been part of the prompt. */
function splitThinking(raw: string, format: ToolFormat): { thinking: string | null; rest: string } {
  const opened = raw.trimStart().startsWith(thinkOpen);
  const body = opened ? raw.slice(raw.indexOf(thinkOpen) + thinkOpen.length) : raw;
  const close = body.indexOf(thinkClose);
  // Without an opening tag, a closing tag in a call that is not yet whole belongs to that call's arguments.
  const before = body.slice(0, Math.max(0, close));
  const inCall = !opened && format.callStart(before) >= 0 && format.find(before, []).problem !== null;
  if (close >= 0 && !inCall)
    return { thinking: body.slice(0, close).trim(), rest: body.slice(close + thinkClose.length) };
  return opened ? { thinking: body.trim(), rest: '' } : { thinking: null, rest: raw };
}
