import { brief, nodesOf, parts, replaceNode } from '../nodes.js';
import { ECMASCRIPT, type BugOperator } from '../operator.js';

/** An `await` forgotten. */
export const awaitRemoval: BugOperator = {
  name: 'await-removal',
  languages: [...ECMASCRIPT, 'python'],
  sites(source) {
    return nodesOf(source, 'await_expression', 'await').flatMap((node) => {
      const [awaited] = parts(node);
      return awaited === undefined ? [] : [replaceNode(node, awaited.text, `await dropped before ${brief(awaited)}`)];
    });
  },
};
