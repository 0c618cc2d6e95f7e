import { field } from '../nodes.js';
import type { BugSite } from '../operator.js';
import type { SyntaxNode } from '../parsing.js';

/** All languages' nodes that hold a binary operator. */
export const BINARY_TYPES = ['binary_expression', 'binary_operator'] as const;
export const COMPARISON_TYPES = ['binary_expression', 'comparison_operator'] as const;
export const LOGIC_TYPES = ['binary_expression', 'boolean_operator'] as const;
/** Those that may hold `+=` and the like; where they hold `=` it is in no table. */
export const AUGMENTED_TYPES = [
  'augmented_assignment_expression',
  'augmented_assignment',
  'compound_assignment_expr',
  'assignment_expression',
  'assignment_statement',
] as const;

/** Operator tokens of a node: one, or several in Python's chained comparison. */
export function operatorTokens(node: SyntaxNode): SyntaxNode[] {
  if (node.type === 'comparison_operator') return node.childrenForFieldName('operators');
  const token = field(node, 'operator');
  return token === null ? [] : [token];
}

/** A site for each operator token that the table names. */
export function swapTokens(node: SyntaxNode, table: Readonly<Record<string, string>>): BugSite[] {
  return operatorTokens(node).flatMap((token) => {
    const swapped = Object.hasOwn(table, token.text) ? table[token.text] : undefined;
    if (swapped === undefined) return [];
    const description = `${token.text} becomes ${swapped}`;
    return [{ start: token.startIndex, end: token.endIndex, replacement: swapped, description }];
  });
}
