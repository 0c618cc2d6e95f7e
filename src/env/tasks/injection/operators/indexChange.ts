import { typeIn } from '../bindings.js';
import { calledName, CALL_TYPES, enclosingFunction, field, nodesOf, parts, replaceNode } from '../nodes.js';
import { ALL_LANGUAGES, bySite, type BugOperator, type BugSite } from '../operator.js';
import type { ParsedSource, SyntaxNode } from '../parsing.js';
import { isNumeric } from '../valueType.js';

const INTEGER = /^(0|[1-9]\d{0,8})$/;
/** Names that hold an index, not a key. */
const INDEX_NAME =
  /^([ijn]|idx|index|pos|position|offset|start|end|left|right|lo|hi|low|high|mid|row|col|column|len|length|size|count|\w+(_index|Index|_pos|Pos|_start|Start|_end|End|_offset|Offset))$/i;
const NUMBERS = new Set(['number', 'integer', 'int_literal', 'integer_literal', 'decimal_integer_literal']);
const SUBSCRIPTS = ['subscript_expression', 'subscript', 'index_expression', 'slice_expression', 'array_access'];
/** Calls whose arguments are places in a sequence. */
const PLACED = /^(slice|substring|subSequence|charAt|charCodeAt|codePointAt|at|nth|subList|splice)$/;

/** The index expressions of a subscript or call, the bounds of a slice among them. */
function indexes(node: SyntaxNode): SyntaxNode[] {
  switch (node.type) {
    case 'subscript':
      return node
        .childrenForFieldName('subscript')
        .flatMap((index) => (index.type === 'slice' ? parts(index) : [index]));
    case 'slice_expression':
      return ['start', 'end'].flatMap((name) => field(node, name) ?? []);
    case 'subscript_expression':
    case 'array_access':
      return [field(node, 'index')].flatMap((index) => index ?? []);
    case 'index_expression': {
      const index = field(node, 'index') ?? parts(node)[1];
      return index.type === 'range_expression' ? parts(index) : [index];
    }
    default:
      return PLACED.test(calledName(node)?.text ?? '') ? parts(field(node, 'arguments') ?? node) : [];
  }
}

/** An index or bound that is one off; null for what is no plain number. */
export function moved(source: ParsedSource, index: SyntaxNode): string | null {
  if (NUMBERS.has(index.type)) return INTEGER.test(index.text) ? String(Number(index.text) + 1) : null;
  if (index.type === 'identifier') {
    const type = typeIn(source, index);
    return INDEX_NAME.test(index.text) && (type === null || isNumeric(type)) ? `${index.text} + 1` : null;
  }
  const argument = field(index, 'argument');
  if (/^unary_/.test(index.type) && argument !== null && INTEGER.test(argument.text)) {
    return `-${String(Number(argument.text) + 1)}`;
  }
  const left = field(index, 'left');
  const right = field(index, 'right');
  const additive = ['+', '-'].includes(field(index, 'operator')?.text ?? '');
  return left !== null && right !== null && additive && NUMBERS.has(right.type) ? left.text : null;
}

/** The neighbour of the wanted element. Subscripts outside of functions are mostly types, so they are left alone. */
export const indexChange: BugOperator = {
  name: 'index-change',
  languages: ALL_LANGUAGES,
  sites(source) {
    return indexSites(source, (index) => moved(source, index) ?? []);
  },
};

/** What `moved` makes an index of: one less, or one more or less of a name that stands alone. */
function movedBack(source: ParsedSource, index: SyntaxNode): readonly string[] {
  if (NUMBERS.has(index.type)) {
    return INTEGER.test(index.text) && index.text !== '0' ? [String(Number(index.text) - 1)] : [];
  }
  const argument = field(index, 'argument');
  if (/^unary_/.test(index.type) && argument !== null && INTEGER.test(argument.text)) {
    return Number(argument.text) > 1 ? [`-${String(Number(argument.text) - 1)}`] : [];
  }
  const other = moved(source, index);
  if (other === null) return [];
  return index.type === 'identifier' ? [other, `${index.text} - 1`] : [other];
}

/** Undoes `index-change`. */
export const indexRepair: BugOperator = {
  ...indexChange,
  sites: (source) => indexSites(source, (index) => movedBack(source, index)),
};

function indexSites(source: ParsedSource, others: (index: SyntaxNode) => string | readonly string[]): BugSite[] {
  const sites = nodesOf(source, ...SUBSCRIPTS, ...CALL_TYPES).flatMap((node) => {
    const places = indexes(node);
    if (places.length === 0 || enclosingFunction(node) === null) return [];
    return places.flatMap((index) =>
      [others(index)]
        .flat()
        .map((replacement) => replaceNode(index, replacement, `index ${index.text} becomes ${replacement}`)),
    );
  });
  return sites.sort(bySite);
}
