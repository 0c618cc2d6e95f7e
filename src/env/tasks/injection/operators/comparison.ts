import { nodesOf } from '../nodes.js';
import { ALL_LANGUAGES, type BugOperator } from '../operator.js';
import { COMPARISON_TYPES, swapTokens } from './operatorToken.js';

const FLIPPED = {
  '==': '!=',
  '!=': '==',
  '===': '!==',
  '!==': '===',
  '<': '>',
  '>': '<',
  '<=': '>=',
  '>=': '<=',
  in: 'not in',
  'not in': 'in',
  is: 'is not',
  'is not': 'is',
};
const SHIFTED = { '<': '<=', '<=': '<', '>': '>=', '>=': '>' };

/** A comparison that tests the opposite, or looks the other way. */
export const comparisonFlip: BugOperator = {
  name: 'comparison-flip',
  languages: ALL_LANGUAGES,
  sites(source) {
    return nodesOf(source, ...COMPARISON_TYPES)
      .flatMap((node) => swapTokens(node, FLIPPED))
      .filter((site) => source.language === 'python' || site.replacement !== 'not in');
  },
};

/** An off-by-one at a boundary: `<` for `<=` and the like. */
export const boundary: BugOperator = {
  name: 'boundary',
  languages: ALL_LANGUAGES,
  sites: (source) => nodesOf(source, ...COMPARISON_TYPES).flatMap((node) => swapTokens(node, SHIFTED)),
};
