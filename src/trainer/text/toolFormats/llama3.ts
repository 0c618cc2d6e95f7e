import { callOf, jsonAt, parseJson, skipBlank, spacedJson } from './json.js';
import type { FoundCalls, ToolFormat, WrittenCall } from './toolFormat.js';

const pythonTag = '<|python_tag|>';

/** Llama 3's: bare JSON objects, several of them apart by semicolons or line ends; `parameters` holds the arguments. */
export const llama3: ToolFormat = {
  name: 'llama3',
  example: '{"name": ..., "parameters": {...}}',
  marks: [pythonTag],
  stopStrings: [],
  // A call starts a line (or follows another), so that JSON inside prose is none.
  callStart: (text) => text.search(/<\|python_tag\|>|^[ \t]*\{\s*"(name|type|parameters|arguments)"\s*:/m),
  find,
  opening: (tool) => `{"name": ${JSON.stringify(tool)}, "parameters":`,
  write: (content, calls) => {
    const written = calls.map(
      ({ name, arguments: args }) => `{"name": ${JSON.stringify(name)}, "parameters": ${spacedJson(args)}}`,
    );
    return [...(content === '' ? [] : [content]), ...written].join('\n');
  },
};

function find(text: string): FoundCalls {
  const calls: WrittenCall[] = [];
  let problem: string | null = null;
  const start = llama3.callStart(text);
  if (start < 0) return { content: text.trim(), calls, problem };
  const content = text.slice(0, start).trim();
  let position = skipBlank(text, text.startsWith(pythonTag, start) ? start + pythonTag.length : start);
  while (position < text.length) {
    const json = jsonAt(text, position);
    if (json === null) {
      problem ??= calls.length > 0 ? 'there is text after the call' : 'the call is not a whole JSON object';
      break;
    }
    const parsed = parseJson(json.text);
    const call = parsed === null ? 'the call is not valid JSON' : callOf(parsed.value, ['parameters', 'arguments']);
    if (typeof call === 'string') problem ??= call;
    else calls.push(call);
    position = skipBlank(text, json.end);
    while (text[position] === ';') position = skipBlank(text, position + 1);
  }
  return { content, calls, problem };
}
