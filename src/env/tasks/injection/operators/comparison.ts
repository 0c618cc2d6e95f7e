import { field, isBlock, nodesOf, parts, unwrap } from '../nodes.js';
import { ALL_LANGUAGES, type BugOperator } from '../operator.js';
import type { SyntaxNode } from '../parsing.js';
import { conditionOf } from './condition.js';
import { COMPARISON_TYPES, swapTokens } from './operatorToken.js';

const FLIPPED = {
  '==': '!=',
  '!=': '==',
  '===': '!==',
  '!==': '===',
  '<': '>',
  '>': '<',
  '<=': '>=',
  '>=': '<=',
  in: 'not in',
  'not in': 'in',
  is: 'is not',
  'is not': 'is',
};
const SHIFTED = { '<': '<=', '<=': '<', '>': '>=', '>=': '>' };

/** A comparison that tests the opposite, or looks the other way. */
export const comparisonFlip: BugOperator = {
  name: 'comparison-flip',
  languages: ALL_LANGUAGES,
  sites(source) {
    return nodesOf(source, ...COMPARISON_TYPES)
      .flatMap((node) => swapTokens(node, FLIPPED))
      .filter((site) => source.language === 'python' || site.replacement !== 'not in');
  },
};

/** An off-by-one at a boundary: `<` for `<=` and the like. */
export const boundary: BugOperator = {
  name: 'boundary',
  languages: ALL_LANGUAGES,
  sites: (source) =>
    nodesOf(source, ...COMPARISON_TYPES)
      .filter((node) => !choosesOne(node))
      .flatMap((node) => swapTokens(node, SHIFTED)),
};

/** `a < b ? a : b` and `if (a < b) b = a` are the same with `<=`. */
function choosesOne(comparison: SyntaxNode): boolean {
  const [left, right] = parts(comparison);
  const outer = comparison.parent?.type === 'parenthesized_expression' ? comparison.parent.parent : comparison.parent;
  const condition = outer === null ? null : conditionOf(outer);
  if (outer === null || condition === null || right === undefined || unwrap(condition).id !== comparison.id)
    return false;
  const sides = [left.text, right.text].sort().join('\n');
  const chosen = chosenFrom(outer).map((node) => node?.text ?? '');
  return chosen.sort().join('\n') === sides;
}

/** What a conditional chooses from: its two values, or both sides of the one assignment in it. */
function chosenFrom(node: SyntaxNode): (SyntaxNode | null)[] {
  if (node.type === 'conditional_expression') return [parts(node)[0], parts(node)[2]];
  const consequence = onlyPart(field(node, 'consequence'));
  const alternative = onlyPart(field(node, 'alternative'));
  if (alternative !== null) return [consequence, alternative];
  const assignment = consequence !== null && /assignment/.test(consequence.type) ? consequence : null;
  return assignment === null ? [] : [field(assignment, 'left'), field(assignment, 'right')];
}

function onlyPart(node: SyntaxNode | null): SyntaxNode | null {
  if (node === null || !(isBlock(node) || /^(else_clause|expression_statement)$/.test(node.type))) return node;
  const inside = parts(node);
  return inside.length === 1 ? onlyPart(inside[0]) : node;
}
