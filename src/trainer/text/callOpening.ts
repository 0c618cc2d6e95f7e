import type { ToolSchema } from '../../trajectory/message.js';
import { isRecord } from './toolFormats/json.js';
import type { WrittenCall } from './toolFormats/toolFormat.js';

/** Of a string's kinds of beginning: a word, a path, a digit, white space, a sign, a letter beyond ASCII. */
const strings = ['a', '/b', '1', ' c', '\n', '-', 'é'];

/** Calls of a tool that begin to differ where the values of its arguments do: with those that it needs, and with all. */
export function differingCalls(tool: ToolSchema): { readonly needed: WrittenCall[]; readonly whole: WrittenCall[] } {
  const { name, parameters } = tool.function;
  const properties = Object.entries(isRecord(parameters.properties) ? parameters.properties : {});
  const required: readonly unknown[] = Array.isArray(parameters.required) ? parameters.required : [];
  const callsWith = (given: typeof properties) =>
    strings.map((text, index) => ({
      name,
      arguments: Object.fromEntries(given.map(([key, schema]) => [key, valueOf(schema, text, index + 1)])),
    }));
  return { needed: callsWith(properties.filter(([key]) => required.includes(key))), whole: callsWith(properties) };
}

function valueOf(schema: unknown, text: string, number: number): unknown {
  const type = isRecord(schema) ? schema.type : 'string';
  if (type === 'array') return [text];
  if (type === 'boolean') return number % 2 === 0;
  return type === 'integer' || type === 'number' ? number : text;
}

/**
 * What all turns begin with, by tokens, but for the one that ends them: where a vocabulary has a token for the end of a name and what
 * follows, a text that is cut there would be in other tokens than the policy ever writes.
 * @param turns ids of turns that call the tool, each with its stop token
 * @returns null where that is not enough to tell the tool
 */
export function callOpening(
  turns: readonly Int32Array[],
  name: string,
  decode: (ids: Int32Array) => string,
): Int32Array | null {
  const [first, ...others] = turns;
  const differs = (id: number, at: number) => others.some((turn) => turn[at] !== id);
  const shared = first.subarray(0, -1).findIndex(differs);
  const opening = first.subarray(0, shared < 0 ? first.length - 1 : shared);
  return decode(opening).includes(name) ? opening : null;
}
