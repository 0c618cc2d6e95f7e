import { z } from 'zod';
import { thinkTags } from '../toolCalls.js';
import {
  bytes,
  choice,
  grammar,
  literal,
  many,
  nothing,
  optional,
  sequence,
  type GrammarState,
  type Rule,
} from './byteGrammar.js';

/** What a tool's arguments may be, in JSON schema, with bounds. */
export interface CallSchema {
  readonly name: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

const valueSchema = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('string'), minLength: z.int().optional() }),
  z.looseObject({ type: z.literal('integer'), minimum: z.number().optional() }),
  z.looseObject({
    type: z.literal('array'),
    items: z.looseObject({ type: z.literal('string'), minLength: z.int().optional() }),
  }),
]);
const objectSchema = z.looseObject({
  properties: z.record(z.string(), valueSchema).default({}),
  required: z.array(z.string()).default([]),
});

const [tail, digit] = [bytes([0x80, 0xbf]), bytes([0x30, 0x39])];
const hex = bytes([0x30, 0x39], [0x41, 0x46], [0x61, 0x66]);

/** One character beyond ASCII in UTF-8 (RFC 3629). */
const beyondAscii = choice(
  sequence(bytes([0xc2, 0xdf]), tail),
  sequence(bytes([0xe0, 0xe0]), bytes([0xa0, 0xbf]), tail),
  sequence(bytes([0xe1, 0xec], [0xee, 0xef]), tail, tail),
  sequence(bytes([0xed, 0xed]), bytes([0x80, 0x9f]), tail),
  sequence(bytes([0xf0, 0xf0]), bytes([0x90, 0xbf]), tail, tail),
  sequence(bytes([0xf1, 0xf3]), tail, tail, tail),
  sequence(bytes([0xf4, 0xf4]), bytes([0x80, 0x8f]), tail, tail),
);

/** A character of a JSON string (RFC 8259): no quotation mark, reverse solidus or control character unless escaped. */
const character = choice(
  bytes([0x20, 0x21], [0x23, 0x5b], [0x5d, 0x7e]),
  beyondAscii,
  sequence(literal('\\'), choice(...[...'"\\/bfnrt'].map(literal), sequence(literal('u'), hex, hex, hex, hex))),
);

const quoted = (minLength = 0) =>
  sequence(literal('"'), minLength > 0 ? character : nothing, many(character), literal('"'));

/** Nine digits at most: no longer number is a line or a count, and JSON's are no integers beyond 2^53. */
const upToEight = Array.from({ length: 8 }).reduce<Rule>((rule) => optional(sequence(digit, rule)), nothing);

function valueRule(schema: z.infer<typeof valueSchema>): Rule {
  switch (schema.type) {
    case 'string':
      return quoted(schema.minLength);
    case 'integer': {
      const positive = sequence(bytes([0x31, 0x39]), upToEight);
      return (schema.minimum ?? 0) > 0 ? positive : choice(literal('0'), positive);
    }
    case 'array': {
      const item = quoted(schema.items.minLength);
      return sequence(literal('['), optional(sequence(item, many(sequence(literal(', '), item)))), literal(']'));
    }
  }
}

/** The members of an object in the schema's order, those that need not be there left out or not. */
function objectRule(parameters: CallSchema['parameters']): Rule {
  const { properties, required } = objectSchema.parse(parameters);
  const from = (entries: [string, z.infer<typeof valueSchema>][], isFirst: boolean): Rule => {
    const [head, ...rest] = entries;
    if (head === undefined) return literal('}');
    const [name, schema] = head;
    const member = sequence(literal(`${isFirst ? '' : ', '}${JSON.stringify(name)}: `), valueRule(schema));
    const taken = sequence(member, from(rest, false));
    return required.includes(name) ? taken : choice(taken, from(rest, isFirst));
  };
  return sequence(literal('{'), from(Object.entries(properties), true));
}

/** Text without the beginning of a tag. */
const plain = many(choice(bytes([0x09, 0x0a], [0x20, 0x3b], [0x3d, 0x7e]), beyondAscii));

/**
 * A turn in Hermes' format: thinking if it likes, text, and at least one call, each of a tool that there is with arguments that fit
 * its schema, written as `spacedJson` writes them. Throws where a schema has what no tool of ours has.
 */
export function callGrammar(tools: readonly CallSchema[]): GrammarState {
  const call = sequence(
    literal('<tool_call>\n{"name": '),
    choice(
      ...tools.map(({ name, parameters }) =>
        sequence(literal(`${JSON.stringify(name)}, "arguments": `), objectRule(parameters)),
      ),
    ),
    literal('}\n</tool_call>'),
  );
  const [open, close] = thinkTags;
  const thinking = optional(sequence(literal(open), plain, literal(close)));
  return grammar(sequence(thinking, plain, call, many(sequence(literal('\n'), call))));
}
