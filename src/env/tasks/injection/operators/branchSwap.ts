import { brief, field, IF_TYPES, isBlock, nodesOf, parts } from '../nodes.js';
import { ALL_LANGUAGES, bySite, type BugOperator, type BugSite } from '../operator.js';
import type { ParsedSource, SyntaxNode } from '../parsing.js';
import { bindsNames, conditionOf } from './condition.js';

/** The two alternatives of a conditional; null where there is a chain of them. */
function branches(node: SyntaxNode): readonly [SyntaxNode, SyntaxNode] | null {
  if (node.type === 'conditional_expression') {
    const [first, , second] = parts(node);
    return second === undefined ? null : [first, second];
  }
  const first = field(node, 'consequence');
  const otherwise = field(node, 'alternative');
  const second = otherwise?.type === 'else_clause' ? (field(otherwise, 'body') ?? parts(otherwise)[0]) : otherwise;
  if (first === null || !second) return null;
  return node.type === 'ternary_expression' || (isBlock(first) && isBlock(second)) ? [first, second] : null;
}

function swap(source: ParsedSource, node: SyntaxNode): BugSite[] {
  const condition = conditionOf(node);
  const both = branches(node);
  if (both === null || condition === null || bindsNames(condition)) return [];
  const [first, second] = both;
  if (first.text === second.text) return [];
  const between = source.text.slice(first.endIndex, second.startIndex);
  return [
    {
      start: first.startIndex,
      end: second.endIndex,
      replacement: second.text + between + first.text,
      description: `branches of ${brief(condition)} swapped`,
    },
  ];
}

/** What belongs into the one branch of an `if` or a conditional expression stands in the other. */
export const branchSwap: BugOperator = {
  name: 'branch-swap',
  languages: ALL_LANGUAGES,
  sites: (source) =>
    nodesOf(source, ...IF_TYPES, 'ternary_expression', 'conditional_expression')
      .flatMap((node) => swap(source, node))
      .sort(bySite),
};
