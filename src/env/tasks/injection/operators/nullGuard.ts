import {
  brief,
  calledName,
  CALL_TYPES,
  field,
  IF_TYPES,
  nodesOf,
  parts,
  removeStatement,
  replaceNode,
  statementOf,
} from '../nodes.js';
import { ALL_LANGUAGES, bySite, type BugOperator, type BugSite } from '../operator.js';
import type { ParsedSource } from '../parsing.js';
import { isNullTest } from './nullTest.js';
import { isGuard } from './removal.js';

function guardStatements(source: ParsedSource): BugSite[] {
  return nodesOf(source, ...IF_TYPES).flatMap((node) => {
    const condition = field(node, 'condition');
    if (condition === null || !isGuard(node) || !isNullTest(condition)) return [];
    return [removeStatement(source, statementOf(node), `guard ${brief(condition)} removed`)];
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

/** Rust's `x.unwrap_or(y)` becomes `x.unwrap()`, Java's `x.orElse(y)` becomes `x.get()`. */
function fallbacks(source: ParsedSource): BugSite[] {
  const unguarded = source.language === 'rust' ? 'unwrap()' : 'get()';
  const guarded = source.language === 'rust' ? /^unwrap_or(_else|_default)?$/ : /^orElse(Get)?$/;
  if (source.language !== 'rust' && source.language !== 'java') return [];
  return nodesOf(source, ...CALL_TYPES).flatMap((call) => {
    const name = calledName(call);
    if (name === null || !guarded.test(name.text)) return [];
    const description = `default dropped in ${brief(call)}`;
    return [{ start: name.startIndex, end: call.endIndex, replacement: unguarded, description }];
  });
}

/** A lookup with a default in Python loses the default: `d.get(k, v)` becomes `d[k]`. */
function lookups(source: ParsedSource): BugSite[] {
  if (source.language !== 'python') return [];
  return nodesOf(source, 'call').flatMap((call) => {
    const callee = field(call, 'function');
    const object = callee?.type === 'attribute' ? field(callee, 'object') : null;
    const given = parts(field(call, 'arguments') ?? call);
    if (object === null || calledName(call)?.text !== 'get' || given.length !== 2) return [];
    if (given.some(({ type }) => /splat|keyword/.test(type))) return [];
    return [replaceNode(call, `${object.text}[${given[0].text}]`, `default dropped in ${brief(call)}`)];
  });
}

/** A guard against null, undefined, None, nil or a missing value removed. */
export const nullGuardRemoval: BugOperator = {
  name: 'null-guard-removal',
  languages: ALL_LANGUAGES,
  sites(source) {
    return [
      ...guardStatements(source),
      ...guardExpressions(source),
      ...defaults(source),
      ...optionalChains(source),
      ...fallbacks(source),
      ...lookups(source),
    ].sort(bySite);
  },
};
