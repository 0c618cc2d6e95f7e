import { ancestors, nodesOf, replaceNode } from '../nodes.js';
import { ALL_LANGUAGES, type BugOperator } from '../operator.js';
import type { SyntaxNode } from '../parsing.js';

const TRUTH: Readonly<Record<string, string>> = { true: 'false', false: 'true', True: 'False', False: 'True' };
/** In a type a literal changes nothing at run time; in a subscript it belongs to another operator. */
const ELSEWHERE = new Set(['literal_type', 'subscript_expression', 'subscript', 'slice']);

function changed(node: SyntaxNode): string | null {
  const flipped = Object.hasOwn(TRUTH, node.text) ? TRUTH[node.text] : undefined;
  if (flipped !== undefined) return flipped;
  if (/^(0|[1-9]\d*)$/.test(node.text)) {
    const value = Number(node.text);
    return Number.isSafeInteger(value + 1) ? String(value + 1) : null;
  }
  return /^\d+\.\d+$/.test(node.text) ? String(Number(node.text) + 1) : null;
}

/** A number off by one, `true` for `false`. */
export const constantChange: BugOperator = {
  name: 'constant-change',
  languages: ALL_LANGUAGES,
  sites(source) {
    return nodesOf(source, 'number', 'integer', 'float', 'true', 'false').flatMap((node) => {
      const around = ancestors(node).slice(0, 2);
      const replacement = around.some((ancestor) => ELSEWHERE.has(ancestor.type)) ? null : changed(node);
      return replacement === null ? [] : [replaceNode(node, replacement, `${node.text} becomes ${replacement}`)];
    });
  },
};
