import { brief, field, nodesOf, replaceNode, unwrap } from '../nodes.js';
import { ALL_LANGUAGES, type BugOperator, type BugSite } from '../operator.js';
import type { ParsedSource, SyntaxNode } from '../parsing.js';
import { LOGIC_TYPES, operatorTokens, swapTokens } from './operatorToken.js';

const SWAPPED = { '&&': '||', '||': '&&', and: 'or', or: 'and' };
const CONDITIONALS = ['if_statement', 'elif_clause', 'ternary_expression', 'conditional_expression'];

/** `&&` for `||`, `and` for `or`, and back. */
export const logicSwap: BugOperator = {
  name: 'logic-swap',
  languages: ALL_LANGUAGES,
  sites: (source) => nodesOf(source, ...LOGIC_TYPES).flatMap((node) => swapTokens(node, SWAPPED)),
};

/** The condition of an `if` or of a conditional expression. In Python's expression it is the middle part of three. */
function conditionOf(node: SyntaxNode): SyntaxNode | null {
  if (node.type === 'conditional_expression') return node.namedChildren[1] ?? null;
  return field(node, 'condition');
}

const isNegation = (node: SyntaxNode) => node.type === 'not_operator' || field(node, 'operator')?.text === '!';

function dropNegation(source: ParsedSource): BugSite[] {
  return nodesOf(source, 'unary_expression', 'not_operator').flatMap((node) => {
    const argument = field(node, 'argument');
    if (argument === null || !isNegation(node)) return [];
    return [replaceNode(node, argument.text, `negation dropped in ${brief(node)}`)];
  });
}

function addNegation(source: ParsedSource): BugSite[] {
  return nodesOf(source, ...CONDITIONALS).flatMap((node) => {
    const condition = conditionOf(node);
    const inner = condition === null ? null : unwrap(condition);
    if (inner === null || isNegation(inner)) return [];
    const negated = source.language === 'python' ? `not (${inner.text})` : `!(${inner.text})`;
    return [replaceNode(inner, negated, `condition ${brief(inner)} negated`)];
  });
}

/** A negation dropped, or a condition negated. */
export const negation: BugOperator = {
  name: 'negation',
  languages: ALL_LANGUAGES,
  sites: (source) => [...dropNegation(source), ...addNegation(source)].sort((a, b) => a.start - b.start),
};

/** One clause of a compound condition dropped: `a && b` becomes `a`. */
export const clauseRemoval: BugOperator = {
  name: 'clause-removal',
  languages: ALL_LANGUAGES,
  sites(source) {
    return nodesOf(source, ...LOGIC_TYPES).flatMap((node) => {
      const left = field(node, 'left');
      const right = field(node, 'right');
      const token = operatorTokens(node)[0]?.text ?? '';
      if (left === null || right === null || !Object.hasOwn(SWAPPED, token)) return [];
      return [replaceNode(node, left.text, `clause ${brief(right)} dropped`)];
    });
  },
};
