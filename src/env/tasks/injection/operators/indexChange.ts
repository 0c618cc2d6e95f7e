import { enclosingFunction, field, nodesOf, parts, replaceNode } from '../nodes.js';
import { ALL_LANGUAGES, type BugOperator } from '../operator.js';
import type { SyntaxNode } from '../parsing.js';

const INTEGER = /^(0|[1-9]\d{0,8})$/;
/** Names that hold an index, not a key. */
const INDEX_NAME = /^([ijkn]|idx|index|pos|position|offset|start|end|left|right|lo|hi|low|high|mid|row|col|column)$/i;
const TYPES = new Set(['number', 'integer']);

/** The index expressions of a subscript, the bounds of a slice among them. */
function indexes(node: SyntaxNode): SyntaxNode[] {
  const own = node.type === 'subscript' ? node.childrenForFieldName('subscript') : [field(node, 'index')];
  return own.flatMap((index) => (index === null ? [] : index.type === 'slice' ? parts(index) : [index]));
}

function moved(index: SyntaxNode): string | null {
  if (TYPES.has(index.type)) return INTEGER.test(index.text) ? String(Number(index.text) + 1) : null;
  if (index.type === 'identifier') return INDEX_NAME.test(index.text) ? `${index.text} + 1` : null;
  const argument = field(index, 'argument');
  if (index.type === 'unary_operator' && argument !== null && INTEGER.test(argument.text)) {
    return `-${String(Number(argument.text) + 1)}`;
  }
  const left = field(index, 'left');
  const right = field(index, 'right');
  const additive = ['+', '-'].includes(field(index, 'operator')?.text ?? '');
  return left !== null && right !== null && additive && TYPES.has(right.type) ? left.text : null;
}

/** The neighbour of the wanted element. Subscripts outside of functions are mostly types, so they are left alone. */
export const indexChange: BugOperator = {
  name: 'index-change',
  languages: ALL_LANGUAGES,
  sites(source) {
    return nodesOf(source, 'subscript_expression', 'subscript').flatMap((node) =>
      indexes(node).flatMap((index) => {
        const replacement = enclosingFunction(node) === null ? null : moved(index);
        return replacement === null
          ? []
          : [replaceNode(index, replacement, `index ${index.text} becomes ${replacement}`)];
      }),
    );
  },
};
