import { z } from 'zod';
import { bytes, choice, literal, many, nothing, optional, sequence, type Rule } from './byteGrammar.js';

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

export type ValueSchema = z.infer<typeof valueSchema>;

/** One argument of a tool. */
export interface Parameter {
  readonly name: string;
  readonly schema: ValueSchema;
  readonly isRequired: boolean;
}

/** In the schema's order. Throws where a schema has what no tool of ours has. */
export function parametersOf({ parameters }: CallSchema): Parameter[] {
  const { properties, required } = objectSchema.parse(parameters);
  return Object.entries(properties).map(([name, schema]) => ({ name, schema, isRequired: required.includes(name) }));
}

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

/** Any character in UTF-8. */
export const character = choice(bytes([0x00, 0x7f]), beyondAscii);

/** A character of a JSON string (RFC 8259): no quotation mark, reverse solidus or control character unless escaped. */
const jsonCharacter = choice(
  bytes([0x20, 0x21], [0x23, 0x5b], [0x5d, 0x7f]),
  beyondAscii,
  sequence(literal('\\'), choice(...[...'"\\/bfnrt'].map(literal), sequence(literal('u'), hex, hex, hex, hex))),
);

/** At least `minLength` times, of which no schema asks for more than one. */
export const repeated = (rule: Rule, minLength = 0) => sequence(minLength > 0 ? rule : nothing, many(rule));

const quoted = (minLength?: number) => sequence(literal('"'), repeated(jsonCharacter, minLength), literal('"'));

/** Nine digits at most: no longer number is a line or a count, and JSON's are no integers beyond 2^53. */
const upToEight = Array.from({ length: 8 }).reduce<Rule>((rule) => optional(sequence(digit, rule)), nothing);

/** A value in JSON, written as `spacedJson` writes it. */
export function valueRule(schema: ValueSchema): Rule {
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
export function argumentsRule(schema: CallSchema): Rule {
  const from = (parameters: readonly Parameter[], isFirst: boolean): Rule => {
    const [head, ...rest] = parameters;
    if (head === undefined) return literal('}');
    const key = literal(`${isFirst ? '' : ', '}${JSON.stringify(head.name)}: `);
    const taken = sequence(key, valueRule(head.schema), from(rest, false));
    return head.isRequired ? taken : choice(taken, from(rest, isFirst));
  };
  return sequence(literal('{'), from(parametersOf(schema), true));
}
