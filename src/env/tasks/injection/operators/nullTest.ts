import { field, parts, unwrap } from '../nodes.js';
import type { SyntaxNode } from '../parsing.js';
import { operatorTokens } from './operatorToken.js';

const EQUALITY = new Set(['==', '===', 'is']);

const isNothing = (node: SyntaxNode) =>
  node.type === 'null' ||
  node.type === 'none' ||
  node.type === 'undefined' ||
  node.text === 'undefined' ||
  /^['"]undefined['"]$/.test(node.text);

/** Does the condition ask whether a value is null, undefined or None (`x == null`, `typeof x === 'undefined'`, `x is None`)? */
export function isNullTest(condition: SyntaxNode): boolean {
  const test = unwrap(condition);
  const sides = test.type === 'comparison_operator' ? parts(test) : [field(test, 'left'), field(test, 'right')];
  const tokens = operatorTokens(test);
  return tokens.length === 1 && EQUALITY.has(tokens[0].text) && sides.some((side) => side !== null && isNothing(side));
}
