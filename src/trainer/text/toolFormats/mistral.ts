import { nineCharacterId } from './callId.js';
import { callOf, isRecord, jsonAt, parseJson, skipBlank, spacedJson } from './json.js';
import type { FoundCalls, ToolFormat, WrittenCall } from './toolFormat.js';

const marks = ['[TOOL_CALLS]', '[ARGS]'] as const;
const [mark, argumentsMark] = marks;

/** Mistral's: a list of JSON objects behind one control token; newer ones write `[TOOL_CALLS]NAME[ARGS]{...}`. */
export const mistral: ToolFormat = {
  name: 'mistral',
  example: '[TOOL_CALLS][{"name": ..., "arguments": {...}}]',
  marks,
  stopStrings: [],
  callStart: (text) => text.indexOf(mark),
  find,
  opening: (tool) => `${mark}[{"name": ${JSON.stringify(tool)}, "arguments":`,
  write: (content, calls) => {
    const written = calls.map(({ name, arguments: args, id }) => {
      const call = { name, arguments: args, ...(id === undefined ? {} : { id: nineCharacterId(id) }) };
      return spacedJson(call);
    });
    return content + (calls.length === 0 ? '' : `${mark}[${written.join(', ')}]`);
  },
};

function find(text: string): FoundCalls {
  const first = mistral.callStart(text);
  if (first < 0) {
    const bare = /^\s*\[\s*\{\s*"name"\s*:/.test(text);
    return { content: text.trim(), calls: [], problem: bare ? 'the calls must follow [TOOL_CALLS]' : null };
  }
  const calls: WrittenCall[] = [];
  let problem: string | null = null;
  let position = first;
  while (text.startsWith(mark, position)) {
    const found = callsAt(text, skipBlank(text, position + mark.length));
    if (typeof found === 'string') {
      problem ??= found;
      const next = text.indexOf(mark, position + mark.length);
      position = next < 0 ? text.length : next;
    } else {
      calls.push(...found.calls);
      position = skipBlank(text, found.end);
    }
  }
  if (position < text.length) problem ??= 'there is text after the calls';
  return { content: text.slice(0, first).trim(), calls, problem };
}

function callsAt(text: string, start: number): { calls: WrittenCall[]; end: number } | string {
  const named = /^([\w.-]+)\s*(?:\[ARGS\])?\s*(?=\{)/.exec(text.slice(start));
  const json = jsonAt(text, start + (named?.[0].length ?? 0));
  if (json === null) return `${mark} is not followed by a whole JSON list`;
  const parsed = parseJson(json.text);
  if (parsed === null) return `the text after ${mark} is not valid JSON`;
  if (named !== null) {
    if (!isRecord(parsed.value)) return `the text after ${argumentsMark} is not a JSON object`;
    return { calls: [{ name: named[1]!, arguments: parsed.value }], end: json.end };
  }
  const calls = (Array.isArray(parsed.value) ? parsed.value : [parsed.value]).map((one) => callOf(one, ['arguments']));
  const wrong = calls.find((call) => typeof call === 'string');
  return wrong ?? { calls: calls.filter((call) => typeof call !== 'string'), end: json.end };
}
