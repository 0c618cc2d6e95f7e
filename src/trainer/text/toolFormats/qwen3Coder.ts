import type { ToolSchema } from '../../../trajectory/message.js';
import { isRecord, parseJson, spacedJson } from './json.js';
import type { FoundCalls, ToolFormat, WrittenCall } from './toolFormat.js';

const marks = ['<tool_call>', '</tool_call>'] as const;
const [open, close] = marks;

/** Qwen3-Coder's: XML-like tags, arguments as plain text whose types are in the tool's schema. */
export const qwen3Coder: ToolFormat = {
  name: 'qwen3-coder',
  example: '<tool_call>\n<function=NAME>\n<parameter=KEY>\nVALUE\n</parameter>\n</function>\n</tool_call>',
  marks,
  stopStrings: [],
  // Models leave the outer tag out at times.
  callStart: (text) => text.search(/<tool_call>|<function=/),
  find,
  opening: (tool) => `${open}\n<function=${tool}>\n`,
  write: (content, calls) => {
    const written = calls.map(({ name, arguments: args }) => {
      const parameters = Object.entries(args).map(
        ([key, value]) =>
          `<parameter=${key}>\n${typeof value === 'string' ? value : spacedJson(value)}\n</parameter>\n`,
      );
      return `${open}\n<function=${name}>\n${parameters.join('')}</function>\n${close}`;
    });
    return [...(content === '' ? [] : [content + '\n']), ...written].join('\n');
  },
};

function find(text: string, tools: readonly ToolSchema[]): FoundCalls {
  const calls: WrittenCall[] = [];
  const around: string[] = [];
  let problem: string | null = null;
  let position = 0;
  for (;;) {
    const start = qwen3Coder.callStart(text.slice(position));
    around.push(text.slice(position, start < 0 ? undefined : position + start));
    if (start < 0) break;
    const body = position + start + (text.startsWith(open, position + start) ? open.length : 0);
    const found = callAt(text, body, tools);
    position = found.end;
    if ('problem' in found) problem ??= found.problem;
    else calls.push(found.call);
  }
  const content = around.join('').trim();
  if (/<\/?(tool_call|function|parameter)[=>]/.test(content)) problem ??= 'a tag of a call stands outside of a call';
  return { content, calls, problem };
}

type Found = { readonly end: number } & ({ readonly call: WrittenCall } | { readonly problem: string });

/**
 * A parameter's value ends at a `</parameter>` that another parameter or the function's end follows, so that values may
 * hold the tags of calls themselves.
 */
function callAt(text: string, start: number, tools: readonly ToolSchema[]): Found {
  const closed = text.indexOf(close, start);
  const skip = closed < 0 ? text.length : closed + close.length;
  const fail = (problem: string) => ({ end: skip, problem });
  const opening = /^\s*<function=([^>\n]*)>/.exec(text.slice(start));
  if (opening === null) return fail('<tool_call> is not followed by <function=NAME>');
  const name = opening[1]!.trim();
  const args: Record<string, unknown> = {};
  let position = start + opening[0].length;
  for (;;) {
    const rest = text.slice(position);
    const parameter = /^\s*<parameter=([^>\n]*)>\n?/.exec(rest);
    if (parameter === null) {
      const end = /^\s*<\/function>(\s*<\/tool_call>)?/.exec(rest);
      if (end !== null) return { end: position + end[0].length, call: { name, arguments: args } };
      return fail(rest.trim() === '' ? '</function> is missing' : 'there is text between the parameters');
    }
    const value = rest.slice(parameter[0].length);
    const length = value.search(/\n?<\/parameter>(?=\s*(<parameter=|<\/function>|$))/);
    if (length < 0) return fail(`</parameter> of "${parameter[1]}" is missing`);
    const key = parameter[1]!.trim();
    // Not by assignment: a key may be `__proto__`.
    Object.defineProperty(args, key, {
      value: typed(value.slice(0, length), typeOf(tools, name, key)),
      enumerable: true,
      configurable: true,
      writable: true,
    });
    position += parameter[0].length + value.indexOf('</parameter>', length) + '</parameter>'.length;
  }
}

function typeOf(tools: readonly ToolSchema[], name: string, key: string): unknown {
  const schema = tools.find((tool) => tool.function.name === name)?.function.parameters.properties;
  const property = isRecord(schema) ? schema[key] : undefined;
  return isRecord(property) ? property.type : undefined;
}

/** Only what the schema does not call a string is read as JSON. */
function typed(text: string, type: unknown): unknown {
  if (type === 'string' || type === undefined) return text;
  return parseJson(text)?.value ?? text;
}
