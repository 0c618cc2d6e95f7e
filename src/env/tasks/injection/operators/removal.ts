import { brief, enclosingFunction, field, nodesOf, parts, removeStatement } from '../nodes.js';
import { ALL_LANGUAGES, type BugOperator } from '../operator.js';
import type { SyntaxNode } from '../parsing.js';
import { isNullTest } from './nullTest.js';

const EFFECTS = new Set([
  'call_expression',
  'call',
  'await_expression',
  'await',
  'assignment_expression',
  'augmented_assignment_expression',
  'augmented_assignment',
  'update_expression',
]);

function isRemovable(statement: SyntaxNode): boolean {
  const [expression] = parts(statement);
  if (expression === undefined || enclosingFunction(statement) === null) return false;
  // A constructor without its `super()` only crashes.
  if (field(expression, 'function')?.type === 'super') return false;
  // In Python the assignment of a plain name declares it.
  if (expression.type === 'assignment') return field(expression, 'left')?.type !== 'identifier';
  return EFFECTS.has(expression.type);
}

/** A statement with an effect taken out of a function. */
export const statementRemoval: BugOperator = {
  name: 'statement-removal',
  languages: ALL_LANGUAGES,
  sites(source) {
    return nodesOf(source, 'expression_statement')
      .filter(isRemovable)
      .map((node) => removeStatement(source, node, `${brief(node)} removed`));
  },
};

/** An `if` without `else`, in a function and not itself the `else` of another. */
export function isGuard(node: SyntaxNode): boolean {
  return field(node, 'alternative') === null && node.parent?.type !== 'else_clause' && enclosingFunction(node) !== null;
}

/** A condition removed together with what hangs on it. Null guards have their own operator. */
export const conditionRemoval: BugOperator = {
  name: 'condition-removal',
  languages: ALL_LANGUAGES,
  sites(source) {
    return nodesOf(source, 'if_statement').flatMap((node) => {
      const condition = field(node, 'condition');
      if (condition === null || !isGuard(node) || isNullTest(condition)) return [];
      return [removeStatement(source, node, `if ${brief(condition)} removed`)];
    });
  },
};
