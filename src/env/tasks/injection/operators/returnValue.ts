import { brief, field, isBlock, nodesOf, parts, replaceNode, unwrap } from '../nodes.js';
import { ALL_LANGUAGES, type BugOperator } from '../operator.js';
import type { Language, SyntaxNode } from '../parsing.js';

const NOTHING = new Set(['null', 'undefined', 'none']);
const LITERAL_TRUTH = new Set(['true', 'false']);
const TRUTH_TYPES = new Set(['comparison_operator', 'boolean_operator', 'not_operator']);
const TRUTH_TOKENS = new Set(['==', '!=', '===', '!==', '<', '<=', '>', '>=', 'in', 'instanceof']);

/** What a function gives back: a return statement's value, or the body of an arrow or lambda written as an expression. */
function returned(node: SyntaxNode): SyntaxNode | null {
  if (node.type === 'return_statement') return parts(node)[0] ?? null;
  const body = field(node, 'body');
  return body === null || isBlock(body) ? null : body;
}

const isTruthValue = (node: SyntaxNode) =>
  TRUTH_TYPES.has(node.type) ||
  (node.type === 'binary_expression' && TRUTH_TOKENS.has(field(node, 'operator')?.text ?? '')) ||
  (node.type === 'unary_expression' && field(node, 'operator')?.text === '!');

function wrong(value: SyntaxNode, language: Language): string {
  if (isTruthValue(value)) return language === 'python' ? `not (${value.text})` : `!(${value.text})`;
  return language === 'python' ? 'None' : 'null';
}

/** Another value returned: a truth value negated, anything else gone. Literal truth values are `constant-change`'s. */
export const returnValue: BugOperator = {
  name: 'return-value',
  languages: ALL_LANGUAGES,
  sites(source) {
    return nodesOf(source, 'return_statement', 'arrow_function', 'lambda').flatMap((node) => {
      const value = returned(node);
      if (value === null) return [];
      const inner = unwrap(value);
      if (NOTHING.has(inner.type) || LITERAL_TRUTH.has(inner.type)) return [];
      return [replaceNode(inner, wrong(inner, source.language), `returned value ${brief(inner)} changed`)];
    });
  },
};
