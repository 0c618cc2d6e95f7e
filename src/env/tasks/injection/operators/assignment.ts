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

/** What is assigned; the first of several values in Go. */
function rightOf(node: SyntaxNode): SyntaxNode | null {
  const given = field(node, 'right');
  return given?.type === 'expression_list' ? parts(given)[0] : given;
}

/** Text is joined: the new part takes the place of the old ones. */
function tableFor(source: ParsedSource, node: SyntaxNode): Readonly<Record<string, string>> {
  const left = field(node, 'left');
  const right = rightOf(node);
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

/** Undoes `assignment-swap`: `+=` for `=` where text is assigned. */
export const assignmentRepair: BugOperator = {
  ...assignmentSwap,
  sites(source) {
    const joined = nodesOf(source, 'assignment_expression', 'assignment_statement', 'assignment').flatMap((node) => {
      const token = node.children.find(({ type }) => type === '=');
      const right = rightOf(node);
      if (token === undefined || right === null || source.language === 'rust' || !joinsText(source, right)) return [];
      return [{ start: token.startIndex, end: token.endIndex, replacement: '+=', description: '= becomes +=' }];
    });
    const swapped = assignmentSwap.sites(source).filter(({ replacement }) => replacement !== '=');
    return [...joined, ...swapped].sort(bySite);
  },
};
