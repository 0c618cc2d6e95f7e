import { callOf, jsonAt, parseJson, skipBlank, spacedJson } from './json.js';
import type { FoundCalls, ToolFormat, WrittenCall } from './toolFormat.js';

const [open, close] = ['<tool_call>', '</tool_call>'] as const;

/** Hermes', Qwen's and SmolLM2's: one JSON object between tags for each call. The last closing tag may be missing. */
export const hermes: ToolFormat = {
  name: 'hermes',
  example: '<tool_call>{"name": ..., "arguments": {...}}</tool_call>',
  marks: [open, close],
  stopStrings: [],
  callStart: (text) => text.indexOf(open),
  find,
  opening: (tool) => `${open}\n{"name": ${JSON.stringify(tool)}, "arguments":`,
  write: (content, calls) => {
    const written = calls.map(
      ({ name, arguments: args }) =>
        `${open}\n{"name": ${JSON.stringify(name)}, "arguments": ${spacedJson(args)}}\n${close}`,
    );
    return [...(content === '' ? [] : [content]), ...written].join('\n');
  },
};

function find(text: string): FoundCalls {
  const calls: WrittenCall[] = [];
  const around: string[] = [];
  let problem: string | null = null;
  let position = 0;
  for (;;) {
    const start = text.indexOf(open, position);
    around.push(text.slice(position, start < 0 ? undefined : start));
    if (start < 0) break;
    const found = callsAt(text, start + open.length);
    position = found.end;
    if ('problem' in found) problem ??= found.problem;
    else calls.push(...found.calls);
  }
  const content = around.join('').trim();
  return { content, calls, problem: problem ?? strayCall(content) };
}

type Found = { readonly end: number } & ({ readonly calls: readonly WrittenCall[] } | { readonly problem: string });

/** Reads the call (or the list of calls, as SmolLM2 writes them) whose opening tag ends at `start`. */
function callsAt(text: string, start: number): Found {
  const closed = text.indexOf(close, start);
  const skip = closed < 0 ? text.length : closed + close.length;
  const json = jsonAt(text, skipBlank(text, start));
  if (json === null) return { end: skip, problem: 'the text in <tool_call> is not a whole JSON object' };
  const after = text.slice(json.end).trimStart();
  const end = after === '' ? text.length : text.length - after.length + close.length;
  if (after !== '' && !after.startsWith(close))
    return { end: skip, problem: 'there is text between the JSON object and </tool_call>' };
  const parsed = parseJson(json.text);
  if (parsed === null) return { end, problem: 'the text in <tool_call> is not valid JSON' };
  const calls = (Array.isArray(parsed.value) ? parsed.value : [parsed.value]).map((one) => callOf(one, ['arguments']));
  const wrong = calls.find((call) => typeof call === 'string');
  return wrong === undefined
    ? { end, calls: calls.filter((call) => typeof call !== 'string') }
    : { end, problem: wrong };
}

/** A closing tag without its call, or a call's JSON without tags. */
function strayCall(content: string): string | null {
  if (content.includes(close)) return '</tool_call> stands without <tool_call>';
  return /^\{\s*"name"\s*:/.test(content) ? 'a call must stand between <tool_call> and </tool_call>' : null;
}
