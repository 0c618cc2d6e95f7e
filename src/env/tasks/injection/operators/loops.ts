import {
  brief,
  enclosingLoop,
  field,
  isBlock,
  isLoop,
  nodesOf,
  parts,
  removeStatement,
  replaceNode,
  statementOf,
} from '../nodes.js';
import { ALL_LANGUAGES, type BugOperator } from '../operator.js';
import type { ParsedSource, SyntaxNode } from '../parsing.js';

const LOOPS = [
  'for_statement',
  'for_in_statement',
  'while_statement',
  'enhanced_for_statement',
  'for_expression',
  'while_expression',
];
const ENDS = /^(return|break|continue|throw|raise)_(statement|expression)$/;

const isEnd = (node: SyntaxNode) =>
  ENDS.test(node.type) || (node.type === 'expression_statement' && ENDS.test(parts(node)[0]?.type ?? ''));

/** The return that follows a loop, as a statement; null where something else follows. */
function nextReturn(source: ParsedSource, loop: SyntaxNode): string | null {
  const statement = statementOf(loop);
  const list = statement.parent;
  const next = list === null ? undefined : parts(list).find(({ startIndex }) => startIndex >= statement.endIndex);
  if (next === undefined || list === null || next.text.includes('\n')) return null;
  if (next.type === 'return_statement') return next.text;
  if (source.language !== 'rust' || list.parent?.type !== 'function_item') return null;
  return /_(statement|declaration|item|expression)$/.test(next.type) &&
    !/^(call|field|index|binary|unary)_/.test(next.type)
    ? null
    : `return ${next.text};`;
}

/** The value is given back after the loop's first round: the function's `return` appears in the loop's body too. */
export const earlyReturn: BugOperator = {
  name: 'early-return',
  languages: ALL_LANGUAGES,
  sites(source) {
    const eol = source.text.includes('\r\n') ? '\r\n' : '\n';
    return nodesOf(source, ...LOOPS).flatMap((loop) => {
      const body = field(loop, 'body');
      const result = nextReturn(source, loop);
      const last = body === null || !isBlock(body) ? undefined : parts(body).at(-1);
      // The last expression of a block in Rust is its value.
      const isValue = source.language === 'rust' && !/_(statement|declaration)$/.test(last?.type ?? '');
      if (result === null || last === undefined || isEnd(last) || isValue) return [];
      const indent =
        /^[ \t]*/.exec(source.text.slice(source.text.lastIndexOf('\n', last.startIndex - 1) + 1))?.[0] ?? '';
      const description = `${result} inside of the loop`;
      return [{ start: last.endIndex, end: last.endIndex, replacement: eol + indent + result, description }];
    });
  },
};

const hasCondition = (head: SyntaxNode) => !['empty_statement', undefined].includes(field(head, 'condition')?.type);

/** Goes over a sequence or has a condition: in other loops a `continue` for a `break` hangs. */
const isBounded = (loop: SyntaxNode) =>
  /^(enhanced_)?for_/.test(loop.type) &&
  (loop.type !== 'for_statement' ||
    hasCondition(loop) ||
    field(loop, 'left') !== null ||
    parts(loop).some((part) => part.type === 'range_clause' || (part.type === 'for_clause' && hasCondition(part))));

/** `break` for `continue` and back, in loops over a sequence: elsewhere it mostly hangs. */
export const loopControlSwap: BugOperator = {
  name: 'loop-control-swap',
  languages: ALL_LANGUAGES,
  sites(source) {
    const statements = ['break_statement', 'continue_statement', 'break_expression', 'continue_expression'];
    return nodesOf(source, ...statements).flatMap((node) => {
      const loop = enclosingLoop(node);
      const target = nearestTarget(node);
      // In a switch `break` leaves the switch; a `continue` there would become such a `break`.
      if (loop === null || target === null || !isLoop(target) || parts(node).length > 0 || !isBounded(loop)) return [];
      const swapped = node.text.startsWith('break')
        ? node.text.replace('break', 'continue')
        : node.text.replace('continue', 'break');
      return [replaceNode(node, swapped, `${brief(node)} becomes ${swapped}`)];
    });
  },
};

/** What a `break` would leave. */
function nearestTarget(node: SyntaxNode): SyntaxNode | null {
  for (let above = node.parent; above !== null; above = above.parent) {
    if (isLoop(above) || /switch|^select_statement$/.test(above.type)) return above;
  }
  return null;
}

/** Undoes `early-return`: the `return` at the end of a loop's body goes where the same one follows the loop. */
export const earlyReturnRepair: BugOperator = {
  ...earlyReturn,
  sites: (source) =>
    nodesOf(source, ...LOOPS).flatMap((loop) => {
      const body = field(loop, 'body');
      const last = body === null || !isBlock(body) ? undefined : parts(body).at(-1);
      if (last === undefined || last.text !== nextReturn(source, loop)) return [];
      return [removeStatement(source, last, `${last.text} taken out of the loop`)];
    }),
};
