import { brief, isFunction, nodesOf, parts } from '../nodes.js';
import { ALL_LANGUAGES, type BugOperator } from '../operator.js';
import type { SyntaxNode } from '../parsing.js';

const UNMOVABLE = new Set([
  'spread_element',
  'keyword_argument',
  'list_splat',
  'dictionary_splat',
  'generator_expression',
]);

const movable = (node: SyntaxNode) => !UNMOVABLE.has(node.type) && !isFunction(node);

/** Two neighbouring arguments of a call, exchanged. */
export const argumentSwap: BugOperator = {
  name: 'argument-swap',
  languages: ALL_LANGUAGES,
  sites(source) {
    return nodesOf(source, 'arguments', 'argument_list').flatMap((list) => {
      const given = parts(list);
      return given.slice(1).flatMap((second, index) => {
        const first = given[index];
        if (!movable(first) || !movable(second) || first.text === second.text) return [];
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
