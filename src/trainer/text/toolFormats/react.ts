import { isRecord, jsonAt, parseJson, skipBlank, spacedJson } from './json.js';
import type { FoundCalls, ToolFormat } from './toolFormat.js';

// Only '\n' ends a line: a JSON string may hold other separators as they are.
const actionLine = /(?<![^\n])Action:/;
const observationLine = /(?<![^\n])Observation:/;

/** ReAct (Yao et al. 2022) as plain text, for models that were made for no tools: Thought, Action, Action Input. */
export const react: ToolFormat = {
  name: 'react',
  example: 'Action: NAME\nAction Input: {...}',
  marks: [],
  // What stands behind it is the environment's to say.
  stopStrings: ['\nObservation:'],
  callStart: (text) => text.search(actionLine),
  find,
  opening: (tool) => `Action: ${tool}\nAction Input:`,
  write: (content, calls) => {
    const written = calls.map(({ name, arguments: args }) => `Action: ${name}\nAction Input: ${spacedJson(args)}`);
    return [...(content === '' ? [] : [`Thought: ${content}`]), ...written].join('\n');
  },
};

function find(text: string): FoundCalls {
  const cut = text.search(observationLine);
  const own = cut < 0 ? text : text.slice(0, cut);
  const first = react.callStart(own);
  const content = (first < 0 ? own : own.slice(0, first)).replace(/^\s*Thought:/, '').trim();
  const calls = [];
  let problem: string | null = null;
  // Each action up to the next one; an action inside the JSON of another starts no line of its own.
  for (let position = first; position >= 0 && position < own.length;) {
    const action = /^Action:[ \t]*(.*)\n\s*Action Input:\s*/.exec(own.slice(position));
    if (action === null) {
      problem ??= 'an Action is not followed by its Action Input';
      break;
    }
    const start = position + action[0].length;
    const json = jsonAt(own, start);
    const parsed = json && parseJson(json.text);
    if (json === null) problem ??= 'the Action Input is not a whole JSON object';
    else if (parsed === null) problem ??= 'the Action Input is not valid JSON';
    else if (!isRecord(parsed.value)) problem ??= 'the Action Input is not a JSON object';
    else calls.push({ name: action[1]!.trim(), arguments: parsed.value });
    const end = json?.end ?? start;
    const next = react.callStart(own.slice(end));
    if (
      json !== null &&
      next < 0 &&
      skipBlank(own, end) < own.length &&
      !/^\s*(Thought|Final Answer):/.test(own.slice(end))
    )
      problem ??= 'there is text after the Action Input';
    position = next < 0 ? -1 : end + next;
  }
  return { content, calls, problem };
}
