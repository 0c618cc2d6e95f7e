import { brief, field, nodesOf, replaceNode } from '../nodes.js';
import { ALL_LANGUAGES, type BugOperator } from '../operator.js';
import type { SyntaxNode } from '../parsing.js';
import { AUGMENTED_TYPES, BINARY_TYPES, operatorTokens, swapTokens } from './operatorToken.js';

const SWAPPED = {
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '%': '*',
  '//': '*',
  '**': '*',
  '<<': '>>',
  '>>': '<<',
  '&': '|',
  '|': '&',
};
const SWAPPED_ASSIGNMENTS = { '+=': '-=', '-=': '+=', '*=': '/=', '/=': '*=' };
const TEXT_TYPES = new Set(['string', 'template_string', 'concatenated_string']);
const ORDERED = new Set(['-', '/', '%', '//']);
const COMPOUND = new Set(['binary_expression', 'binary_operator', 'ternary_expression', 'conditional_expression']);

/** Is a string literal among the operands? Arithmetic on text is no arithmetic. */
function joinsText(node: SyntaxNode): boolean {
  if (TEXT_TYPES.has(node.type)) return true;
  if (!COMPOUND.has(node.type)) return false;
  return node.namedChildren.some(joinsText);
}

/** Another arithmetic operator. */
export const arithmeticSwap: BugOperator = {
  name: 'arithmetic-swap',
  languages: ALL_LANGUAGES,
  sites(source) {
    const binary = nodesOf(source, ...BINARY_TYPES).filter((node) => !joinsText(node));
    const augmented = nodesOf(source, ...AUGMENTED_TYPES).filter((node) => {
      const right = field(node, 'right');
      return right === null || !joinsText(right);
    });
    return [
      ...binary.flatMap((node) => swapTokens(node, SWAPPED)),
      ...augmented.flatMap((node) => swapTokens(node, SWAPPED_ASSIGNMENTS)),
    ].sort((a, b) => a.start - b.start);
  },
};

/** Operands the wrong way round, where the order matters. */
export const operandSwap: BugOperator = {
  name: 'operand-swap',
  languages: ALL_LANGUAGES,
  sites(source) {
    return nodesOf(source, ...BINARY_TYPES).flatMap((node) => {
      const left = field(node, 'left');
      const right = field(node, 'right');
      const [token] = operatorTokens(node);
      if (left === null || right === null || token === undefined || left.text === right.text) return [];
      const ordered = ORDERED.has(token.text) || (token.text === '+' && joinsText(node));
      // `'%s' % x` is formatting.
      if (!ordered || (token.text === '%' && TEXT_TYPES.has(left.type))) return [];
      const between = source.text.slice(left.endIndex, right.startIndex);
      const operand = (side: SyntaxNode) => (COMPOUND.has(side.type) ? `(${side.text})` : side.text);
      return [replaceNode(node, operand(right) + between + operand(left), `operands swapped in ${brief(node)}`)];
    });
  },
};
