import { brief, field, nodesOf, removeStatement, replaceNode } from '../nodes.js';
import { ALL_LANGUAGES, type BugOperator, type BugSite } from '../operator.js';
import type { ParsedSource } from '../parsing.js';
import { isNullTest } from './nullTest.js';
import { isGuard } from './removal.js';

function guardStatements(source: ParsedSource): BugSite[] {
  return nodesOf(source, 'if_statement').flatMap((node) => {
    const condition = field(node, 'condition');
    if (condition === null || !isGuard(node) || !isNullTest(condition)) return [];
    return [removeStatement(source, node, `guard ${brief(condition)} removed`)];
  });
}

/** `x == null ? a : b` becomes `b`; `a if x is None else b` becomes `b`. */
function guardExpressions(source: ParsedSource): BugSite[] {
  return nodesOf(source, 'ternary_expression', 'conditional_expression').flatMap((node) => {
    const [first, second, otherwise] = node.namedChildren;
    const condition = node.type === 'ternary_expression' ? first : second;
    if (otherwise === undefined || node.namedChildCount !== 3 || !isNullTest(condition)) return [];
    return [replaceNode(node, otherwise.text, `guard ${brief(condition)} removed`)];
  });
}

/** `x ?? y` becomes `x`. */
function defaults(source: ParsedSource): BugSite[] {
  return nodesOf(source, 'binary_expression').flatMap((node) => {
    const left = field(node, 'left');
    if (left === null || field(node, 'operator')?.text !== '??') return [];
    return [replaceNode(node, left.text, `default dropped in ${brief(node)}`)];
  });
}

/** `x?.y` becomes `x.y`; `x?.[i]` and `x?.()` lose the `?.` alone. */
function optionalChains(source: ParsedSource): BugSite[] {
  return nodesOf(source, 'optional_chain').map((node) =>
    replaceNode(
      node,
      node.parent?.type === 'member_expression' ? '.' : '',
      `?. dropped in ${brief(node.parent ?? node)}`,
    ),
  );
}

/** A guard against null, undefined or None removed. */
export const nullGuardRemoval: BugOperator = {
  name: 'null-guard-removal',
  languages: ALL_LANGUAGES,
  sites(source) {
    return [
      ...guardStatements(source),
      ...guardExpressions(source),
      ...defaults(source),
      ...optionalChains(source),
    ].sort((a, b) => a.start - b.start);
  },
};
