/**
 * How text is cut before pairs are merged, for a small model that reads and edits code through tools. In JavaScript's
 * and Oniguruma's common syntax, since tokenizer.json carries it. Every character matches some alternative.
 *
 * - The boilerplate of tool calls is one piece, so that it can become one token.
 * - A piece of code is cut the same way where it is shown (`12:     return x`) and where it is quoted in an edit's
 *   JSON (`"    return x`): indentation keeps all its blanks, quotes and escapes stand alone, so that copying an
 *   observation into an edit copies its tokens.
 * - Identifiers are cut into the words of camelCase and snake_case; digits stand alone.
 */
const alternatives = [
  String.raw`<tool_call>\n\{"name": "[a-z_]+", "arguments": \{(?:"[a-z_]+": "?)?`,
  String.raw`"?\}\}\n</tool_call>`,
  String.raw`</?think>\n?`,
  String.raw`"?, "[a-z_]+": "?`,
  // After a line's number.
  String.raw`(?<=[0-9]): `,
  String.raw`[ ._]?(?:[A-Z]?[a-z]+|[A-Z]+(?![a-z]))`,
  String.raw`[ ]?[\p{L}\p{M}]+`,
  String.raw`[0-9]`,
  String.raw`\p{N}`,
  String.raw`\\["\\/bfnrtu]`,
  String.raw`["\\]`,
  String.raw`_+`,
  String.raw`[ ]?[^ \t\r\n\p{L}\p{M}\p{N}"\\_]{1,4}`,
  String.raw`[ ]+`,
  String.raw`\t+`,
  String.raw`[\r\n]+`,
];

export const preTokenizerPattern = alternatives.join('|');

/** Cuts text into pre-tokens; laid end to end they are the text. */
export function preTokenize(text: string): string[] {
  return text.match(new RegExp(preTokenizerPattern, 'gu')) ?? [];
}
