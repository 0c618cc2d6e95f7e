import type { ToolFormatName } from '../toolFormats/toolFormat.js';
import { bytes, choice, literal, many, nothing, optional, sequence, without, type Rule } from './byteGrammar.js';
import {
  argumentsRule,
  character,
  parametersOf,
  repeated,
  valueRule,
  type CallSchema,
  type Parameter,
} from './jsonRules.js';

/** What a turn looks like in a format, so that the format's own parser finds in it what was meant. */
export interface FormatRules {
  /** What the text before the calls must not hold, since the parser would take it for (a part of) a call. */
  readonly notInText: Rule;
  /** Calls begin a line of their own. */
  readonly onOwnLine: boolean;
  /** At least one call; each is of one of the tools, with arguments that fit its schema. */
  calls(tools: readonly CallSchema[]): Rule;
}

/** White space as regular expressions of JavaScript see it (`\s`). */
const blank = choice(
  ...'\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff'.split('').map(literal),
  // U+2000 to U+200A.
  sequence(bytes([0xe2, 0xe2]), bytes([0x80, 0x80]), bytes([0x80, 0x8a])),
);
const oneOf = (...texts: readonly string[]) => choice(...texts.map(literal));
const some = (rule: Rule, between: Rule) => sequence(rule, many(sequence(between, rule)));
/** A brace and one of the keys, as JSON that is meant as a call begins. */
const bareCall = (...keys: readonly string[]) =>
  sequence(literal('{'), many(blank), oneOf(...keys.map((key) => JSON.stringify(key))), many(blank), literal(':'));
const nameOf = ({ name }: CallSchema) => JSON.stringify(name);

const hermes: FormatRules = {
  notInText: choice(oneOf('<tool_call>', '</tool_call>'), bareCall('name')),
  onOwnLine: false,
  calls: (tools) =>
    some(
      sequence(
        literal('<tool_call>\n{"name": '),
        choice(...tools.map((tool) => sequence(literal(`${nameOf(tool)}, "arguments": `), argumentsRule(tool)))),
        literal('}\n</tool_call>'),
      ),
      literal('\n'),
    ),
};

const llama3: FormatRules = {
  notInText: choice(literal('<|python_tag|>'), bareCall('name', 'type', 'parameters', 'arguments')),
  onOwnLine: true,
  calls: (tools) =>
    some(
      sequence(
        literal('{"name": '),
        choice(...tools.map((tool) => sequence(literal(`${nameOf(tool)}, "parameters": `), argumentsRule(tool)))),
        literal('}'),
      ),
      oneOf('\n', '; '),
    ),
};

/** A call's id, which Mistral's templates insist on and write behind the arguments. */
const mistralId = sequence(
  literal(', "id": "'),
  ...Array.from({ length: 9 }, () => bytes([0x30, 0x39], [0x41, 0x5a], [0x61, 0x7a])),
  literal('"'),
);

const mistral: FormatRules = {
  notInText: literal('[TOOL_CALLS]'),
  onOwnLine: false,
  calls(tools) {
    const listed = sequence(
      literal('{"name": '),
      choice(...tools.map((tool) => sequence(literal(`${nameOf(tool)}, "arguments": `), argumentsRule(tool)))),
      optional(mistralId),
      literal('}'),
    );
    const list = sequence(literal('[TOOL_CALLS]['), some(listed, literal(', ')), literal(']'));
    const named = choice(
      ...tools.map((tool) => sequence(literal(`[TOOL_CALLS]${tool.name}[ARGS]`), argumentsRule(tool))),
    );
    return choice(list, some(named, nothing));
  },
};

const react: FormatRules = {
  notInText: oneOf('\nAction:', '\nObservation:'),
  onOwnLine: true,
  calls: (tools) =>
    some(
      choice(...tools.map((tool) => sequence(literal(`Action: ${tool.name}\nAction Input: `), argumentsRule(tool)))),
      literal('\n'),
    ),
};

/** What ends a value of Qwen3-Coder's before its time: the closing tag, unless neither a parameter nor the call's end follows. */
const valueEnd = sequence(literal('</parameter>'), many(blank), oneOf('<parameter=', '</function>'));

/** Text as it is, anything else as JSON. */
const plainValue = ({ schema }: Parameter) =>
  without(schema.type === 'string' ? repeated(character, schema.minLength) : valueRule(schema), valueEnd);

const qwen3Coder: FormatRules = {
  notInText: sequence(oneOf('<', '</'), oneOf('tool_call', 'function', 'parameter'), oneOf('=', '>')),
  onOwnLine: false,
  calls(tools) {
    const parameter = (one: Parameter) => {
      const written = sequence(literal(`<parameter=${one.name}>\n`), plainValue(one), literal('\n</parameter>\n'));
      return one.isRequired ? written : optional(written);
    };
    const calls = tools.map((tool) =>
      sequence(
        literal(`<tool_call>\n<function=${tool.name}>\n`),
        ...parametersOf(tool).map(parameter),
        literal('</function>\n</tool_call>'),
      ),
    );
    return some(choice(...calls), literal('\n'));
  },
};

export const formatRules: Readonly<Record<ToolFormatName, FormatRules>> = {
  'qwen3-coder': qwen3Coder,
  hermes,
  mistral,
  llama3,
  react,
};
