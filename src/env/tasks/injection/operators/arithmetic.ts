import { typeIn } from '../bindings.js';
import { brief, field, isText, nodesOf, replaceNode } from '../nodes.js';
import { ALL_LANGUAGES, isCompiled, type BugOperator } from '../operator.js';
import type { ParsedSource, SyntaxNode } from '../parsing.js';
import { isNumeric, isTextual } from '../valueType.js';
import { BINARY_TYPES, operatorTokens, swapTokens } from './operatorToken.js';

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
const ORDERED = new Set(['-', '/', '%', '//']);
const COMPOUND = new Set([
  'binary_expression',
  'binary_operator',
  'ternary_expression',
  'conditional_expression',
  'type_cast_expression',
]);

/** Is text among the operands, as far as one can tell? Arithmetic on text is no arithmetic. */
export function joinsText(source: ParsedSource, node: SyntaxNode): boolean {
  if (isText(node) || isTextual(typeIn(source, node))) return true;
  return COMPOUND.has(node.type) && node.namedChildren.some((child) => joinsText(source, child));
}

/** `+` where the compiler would refuse `-`: nothing shows that numbers are added. */
function mayJoin(source: ParsedSource, node: SyntaxNode): boolean {
  if (joinsText(source, node)) return true;
  return isCompiled(source) && field(node, 'operator')?.text === '+' && !isNumeric(typeIn(source, node));
}

const isZero = (node: SyntaxNode | null) => node !== null && /^[0.]+$/.test(node.text);

/** Another arithmetic operator. */
export const arithmeticSwap: BugOperator = {
  name: 'arithmetic-swap',
  languages: ALL_LANGUAGES,
  sites: (source) =>
    nodesOf(source, ...BINARY_TYPES)
      .filter((node) => !mayJoin(source, node) && !isZero(field(node, 'right')))
      .flatMap((node) => swapTokens(node, SWAPPED)),
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
      // Rust owns the left side of a joined text.
      const isPlain = ![left, right, node.parent].some((part) => part !== null && COMPOUND.has(part.type));
      // A sentence's beginning is hardly taken for its end.
      const isSentence = [left, right].some((side) => isText(side) && /\w \w/.test(side.text));
      const joins =
        token.text === '+' && isPlain && !isSentence && source.language !== 'rust' && joinsText(source, node);
      // `'%s' % x` is formatting; nobody writes `1 - n` for `n - 1`.
      const formats = token.text === '%' && isText(left);
      const isOdd = /^[\d.]+\w*$/.test(right.text);
      if (!(ORDERED.has(token.text) || joins) || formats || isOdd) return [];
      const between = source.text.slice(left.endIndex, right.startIndex);
      const operand = (side: SyntaxNode) => (COMPOUND.has(side.type) ? `(${side.text})` : side.text);
      return [replaceNode(node, operand(right) + between + operand(left), `operands swapped in ${brief(node)}`)];
    });
  },
};

/** What an operator may have been before the swap: several become `*`. */
const SWAPPED_BACK: readonly Readonly<Record<string, string>>[] = [
  { '+': '-', '-': '+', '*': '/', '/': '*', '<<': '>>', '>>': '<<', '&': '|', '|': '&' },
  { '*': '%' },
  { '*': '**' },
  { '*': '//' },
];

/** Undoes `arithmetic-swap`. */
export const arithmeticRepair: BugOperator = {
  ...arithmeticSwap,
  sites(source) {
    const tables = SWAPPED_BACK.slice(0, source.language === 'python' ? 4 : isCompiled(source) ? 2 : 3);
    return nodesOf(source, ...BINARY_TYPES)
      .filter((node) => !mayJoin(source, node))
      .flatMap((node) => tables.flatMap((table) => swapTokens(node, table)));
  },
};
