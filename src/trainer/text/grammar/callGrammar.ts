import { thinkTags } from '../toolCalls.js';
import type { ToolFormat } from '../toolFormats/toolFormat.js';
import { choice, grammar, literal, many, optional, sequence, without, type GrammarState } from './byteGrammar.js';
import { formatRules } from './formatRules.js';
import { character, type CallSchema } from './jsonRules.js';

/**
 * A turn in a tool format: thinking if it likes (the prompt may have opened it), text, and at least one call, each of a tool that
 * there is with arguments that fit its schema, written as the format writes them. Whatever is in it, the format's parser reads
 * just these calls. Throws where a schema has what no tool of ours has.
 */
export function callGrammar(
  format: Pick<ToolFormat, 'name' | 'stopStrings'>,
  tools: readonly CallSchema[],
): GrammarState {
  const { notInText, onOwnLine, calls } = formatRules[format.name];
  const [open, close] = thinkTags;
  // Text that ends the turn would cut it before its calls.
  const stops = format.stopStrings.map(literal);
  const any = many(character);
  const text = without(any, choice(literal(open), literal(close), notInText, ...stops), '\n');
  const thought = choice(sequence(literal(open), without(any, choice(literal(close), ...stops))), text);
  const before = onOwnLine ? optional(sequence(text, literal('\n'))) : text;
  return grammar(sequence(optional(sequence(thought, literal(close))), before, calls(tools)));
}
