import { field, unwrap } from '../nodes.js';
import type { SyntaxNode } from '../parsing.js';

/** The name of the error that an `if` asks for: `err` in Go's `if err != nil`, in JavaScript's `if (err)`; null for other tests. */
export function testedError(node: SyntaxNode): string | null {
  const condition = field(node, 'condition');
  if (condition === null) return null;
  const test = unwrap(condition);
  const name = test.type === 'binary_expression' && field(test, 'operator')?.text === '!=' ? field(test, 'left') : test;
  if (test !== name && field(test, 'right')?.type !== 'nil') return null;
  return name?.type === 'identifier' && /^(err|error|\w+Err|\w+Error)$/.test(name.text) ? name.text : null;
}

export const isErrorTest = (node: SyntaxNode) => testedError(node) !== null;
