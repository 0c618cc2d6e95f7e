import { brief, field, isNegation, nodesOf, operandOf, replaceNode, unwrap } from '../nodes.js';
import { ALL_LANGUAGES, bySite, type BugOperator, type BugSite } from '../operator.js';
import type { ParsedSource, SyntaxNode } from '../parsing.js';
import { bindsNames, conditionOf, negated } from './condition.js';
import { LOGIC_TYPES, operatorTokens, swapTokens } from './operatorToken.js';

const SWAPPED = { '&&': '||', '||': '&&', and: 'or', or: 'and' };
const CONDITIONALS = ['if_statement', 'elif_clause', 'if_expression'];

/** `&&` for `||`, `and` for `or`, and back. */
export const logicSwap: BugOperator = {
  name: 'logic-swap',
  languages: ALL_LANGUAGES,
  sites: (source) =>
    nodesOf(source, ...LOGIC_TYPES)
      .filter((node) => !bindsNames(node))
      .flatMap((node) => swapTokens(node, SWAPPED)),
};

function dropNegation(source: ParsedSource): BugSite[] {
  return nodesOf(source, 'unary_expression', 'not_operator').flatMap((node) => {
    const operand = operandOf(node);
    if (operand === null || !isNegation(node)) return [];
    return [replaceNode(node, operand.text, `negation dropped in ${brief(node)}`)];
  });
}

/** Where there is an `else`, the branches are swapped instead. */
const hasElse = (node: SyntaxNode) => {
  const alternative = field(node, 'alternative');
  return alternative !== null && alternative.type !== 'elif_clause';
};

function addNegation(source: ParsedSource): BugSite[] {
  return nodesOf(source, ...CONDITIONALS).flatMap((node) => {
    const condition = conditionOf(node);
    if (condition === null || (node.type !== 'elif_clause' && hasElse(node))) return [];
    const inner = unwrap(condition);
    const replacement = negated(source, inner);
    return replacement === null ? [] : [replaceNode(inner, replacement, `condition ${brief(inner)} negated`)];
  });
}

/** A negation dropped, or a condition negated. */
export const negation: BugOperator = {
  name: 'negation',
  languages: ALL_LANGUAGES,
  sites: (source) => [...dropNegation(source), ...addNegation(source)].sort(bySite),
};

/** One clause of a compound condition dropped: `a && b` becomes `a` or `b`. */
export const clauseRemoval: BugOperator = {
  name: 'clause-removal',
  languages: ALL_LANGUAGES,
  sites(source) {
    return nodesOf(source, ...LOGIC_TYPES).flatMap((node) => {
      const left = field(node, 'left');
      const right = field(node, 'right');
      const token = operatorTokens(node)[0]?.text ?? '';
      if (left === null || right === null || !Object.hasOwn(SWAPPED, token)) return [];
      const dropRight = replaceNode(node, left.text, `clause ${brief(right)} dropped`);
      const dropLeft = replaceNode(node, right.text, `clause ${brief(left)} dropped`);
      return bindsNames(node) ? [dropRight] : [dropRight, dropLeft];
    });
  },
};
