import { typeIn } from '../bindings.js';
import { brief, calledName, isFunction, isText, nodesOf, parts } from '../nodes.js';
import { ALL_LANGUAGES, isCompiled, type BugOperator } from '../operator.js';
import type { ParsedSource, SyntaxNode } from '../parsing.js';

const UNMOVABLE = new Set([
  'spread_element',
  'keyword_argument',
  'list_splat',
  'dictionary_splat',
  'generator_expression',
  'variadic_argument',
]);
/** Their order makes no difference, or shows at once that it is wrong. */
const INDIFFERENT =
  /^([sS]wap|min|max|gcd|hypot|equals|equal|isinstance|issubclass|super|hasattr|getattr|log|print|println|Println|debug|warn|info|Sprintf|Errorf|Printf|format|asList|of|Set|union)$/;
const LITERAL =
  /literal|^(number|integer|float|string|template_string|regex|object|array|list|dictionary|true|false|null|none|nil|undefined)$/;

function mayMove(source: ParsedSource, first: SyntaxNode, second: SyntaxNode): boolean {
  const isFixed = [first, second].some((node) => UNMOVABLE.has(node.type) || isFunction(node));
  if (isFixed || first.text === second.text) return false;
  const types = [typeIn(source, first), typeIn(source, second)];
  if (isCompiled(source))
    return types[0] !== null && types[0] === types[1] && (isText(first) || !types[0].includes('{'));
  if (LITERAL.test(first.type) !== LITERAL.test(second.type)) return false;
  return types[0] === null || types[1] === null || types[0] === types[1];
}

/** Two neighbouring arguments of a call, exchanged. In compiled languages their types have to be known and the same. */
export const argumentSwap: BugOperator = {
  name: 'argument-swap',
  languages: ALL_LANGUAGES,
  sites(source) {
    return nodesOf(source, 'arguments', 'argument_list').flatMap((list) => {
      const call = list.parent;
      const isCall = call !== null && call.type !== 'class_definition';
      if (!isCall || INDIFFERENT.test(calledName(call)?.text ?? '')) return [];
      const given = parts(list);
      return given.slice(1).flatMap((second, index) => {
        const first = given[index];
        if (!mayMove(source, first, second)) return [];
        const between = source.text.slice(first.endIndex, second.startIndex);
        return [
          {
            start: first.startIndex,
            end: second.endIndex,
            replacement: second.text + between + first.text,
            description: `arguments ${brief(first)} and ${brief(second)} swapped`,
          },
        ];
      });
    });
  },
};
