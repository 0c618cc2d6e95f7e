import { brief, enclosingLoop, field, isBlock, isLoop, nodesOf, parts, replaceNode } from '../nodes.js';
import { ALL_LANGUAGES, type BugOperator } from '../operator.js';
import type { SyntaxNode } from '../parsing.js';

const ENDS = new Set([
  'return_statement',
  'break_statement',
  'continue_statement',
  'throw_statement',
  'raise_statement',
]);

/** The return that comes after a loop in the same block, without anything of the loop's own in it. */
function laterReturn(loop: SyntaxNode): SyntaxNode | null {
  const siblings = loop.parent === null ? [] : parts(loop.parent);
  const later = siblings.filter((sibling) => sibling.startIndex >= loop.endIndex);
  return later.find((sibling) => sibling.type === 'return_statement') ?? null;
}

/** The value is given back after the loop's first round: the function's `return` appears in the loop's body too. */
export const earlyReturn: BugOperator = {
  name: 'early-return',
  languages: ALL_LANGUAGES,
  sites(source) {
    const eol = source.text.includes('\r\n') ? '\r\n' : '\n';
    return nodesOf(source, 'for_statement', 'for_in_statement', 'while_statement').flatMap((loop) => {
      const body = field(loop, 'body');
      const result = laterReturn(loop);
      const last = body === null || !isBlock(body) ? undefined : parts(body).at(-1);
      if (result === null || result.text.includes('\n') || last === undefined || ENDS.has(last.type)) return [];
      const indent =
        /^[ \t]*/.exec(source.text.slice(source.text.lastIndexOf('\n', last.startIndex - 1) + 1))?.[0] ?? '';
      const description = `${brief(result)} inside of the loop`;
      return [{ start: last.endIndex, end: last.endIndex, replacement: eol + indent + result.text, description }];
    });
  },
};

/** `break` for `continue` and back, in loops over a sequence: elsewhere it mostly hangs. */
export const loopControlSwap: BugOperator = {
  name: 'loop-control-swap',
  languages: ALL_LANGUAGES,
  sites(source) {
    return nodesOf(source, 'break_statement', 'continue_statement').flatMap((node) => {
      const loop = enclosingLoop(node);
      const inSwitch = node.type === 'break_statement' && nearestTarget(node)?.type === 'switch_statement';
      if (loop === null || inSwitch || parts(node).length > 0 || !/^for_/.test(loop.type)) return [];
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
    if (isLoop(above) || above.type === 'switch_statement') return above;
  }
  return null;
}
