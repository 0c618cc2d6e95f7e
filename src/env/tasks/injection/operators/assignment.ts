import { typeIn } from '../bindings.js';
import { field, nodesOf, parts } from '../nodes.js';
import { ALL_LANGUAGES, bySite, isCompiled, type BugOperator } from '../operator.js';
import type { ParsedSource, SyntaxNode } from '../parsing.js';
import { isNumeric } from '../valueType.js';
import { joinsText } from './arithmetic.js';
import { AUGMENTED_TYPES, swapTokens } from './operatorToken.js';

const SWAPPED = {
  '-=': '+=',
  '*=': '/=',
  '/=': '*=',
  '|=': '&=',
  '&=': '|=',
  '<<=': '>>=',
  '>>=': '<<=',
};
const STEPS = { '++': '--', '--': '++' };

/** In the head of a loop: the other way it never ends. */
const isStep = (node: SyntaxNode) => /^for_(statement|clause)$/.test(node.parent?.type ?? '');

/** Text is joined: the new part takes the place of the old ones. */
function tableFor(source: ParsedSource, node: SyntaxNode): Readonly<Record<string, string>> {
  const left = field(node, 'left');
  const given = field(node, 'right');
  const right = given?.type === 'expression_list' ? parts(given)[0] : given;
  // Sequences have no opposite of `+=`.
  if (left === null || right === null || /^(tuple|list|array)/.test(right.type)) return {};
  if (joinsText(source, right)) return source.language === 'rust' ? {} : { '+=': '=' };
  const operands = [left, ...right.namedChildren, right];
  const isSure = !isCompiled(source) || operands.some((operand) => isNumeric(typeIn(source, operand)));
  return isSure ? { ...SWAPPED, '+=': '-=' } : SWAPPED;
}

/** Another assignment: `-=` for `+=`, `=` for `+=` on text, `--` for `++` outside of the heads of loops. */
export const assignmentSwap: BugOperator = {
  name: 'assignment-swap',
  languages: ALL_LANGUAGES,
  sites(source) {
    const assignments = nodesOf(source, ...AUGMENTED_TYPES)
      .filter((node) => !isStep(node))
      .flatMap((node) => swapTokens(node, tableFor(source, node)));
    const steps = nodesOf(source, 'update_expression', 'inc_statement', 'dec_statement').flatMap((node) => {
      const token = node.children.find(({ type }) => Object.hasOwn(STEPS, type));
      if (token === undefined || isStep(node)) return [];
      const replacement = STEPS[token.text as keyof typeof STEPS];
      const description = `${token.text} becomes ${replacement}`;
      return [{ start: token.startIndex, end: token.endIndex, replacement, description }];
    });
    return [...assignments, ...steps].sort(bySite);
  },
};
