import type { LlamaConfig } from './llamaConfig.js';

/** Tokens of an episode, whatever more a model could hold: caches and activations grow with them. */
const longestContext = 8192;

export const contextOf = ({ maxPositions }: Pick<LlamaConfig, 'maxPositions'>): number =>
  Math.min(maxPositions, longestContext);
