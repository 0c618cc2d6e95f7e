import { calledName, field, parts, unwrap } from '../nodes.js';
import type { SyntaxNode } from '../parsing.js';
import { operatorTokens } from './operatorToken.js';

const EQUALITY = new Set(['==', '===', 'is']);
const NOTHING = new Set(['null', 'none', 'undefined', 'nil', 'null_literal']);

const isNothing = (node: SyntaxNode) =>
  NOTHING.has(node.type) || node.text === 'undefined' || /^['"]undefined['"]$/.test(node.text);

/**
 * Does the condition ask whether a value is missing (`x == null`, `typeof x === 'undefined'`, `x is None`, `x == nil`,
 * `x.is_none()`)?
 */
export function isNullTest(condition: SyntaxNode): boolean {
  const test = unwrap(condition);
  if (test.type === 'call_expression') return calledName(test)?.text === 'is_none';
  const sides = test.type === 'comparison_operator' ? parts(test) : [field(test, 'left'), field(test, 'right')];
  const tokens = operatorTokens(test);
  return tokens.length === 1 && EQUALITY.has(tokens[0].text) && sides.some((side) => side !== null && isNothing(side));
}
