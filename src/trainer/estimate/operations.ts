import type { LlamaConfig } from '../model/llamaConfig.js';

/** An episode as the learner sees it: all of its tokens, and those of them that the policy sampled. */
export interface EpisodeLength {
  readonly tokens: number;
  readonly sampled: number;
}

/**
 * Floating-point operations of one pass forwards: 2 a weight and token, the head's for sampled tokens only, and attention over
 * the tokens before each, 4 a layer, width and pair (Kaplan et al., arXiv 2001.08361, section 2.1, without the embeddings).
 */
export function forwardOperations(config: LlamaConfig, length: EpisodeLength): number {
  return 2 * products(config, length) + 4 * attention(config, length);
}

/** Forwards and backwards: three times that; where only an adapter is trained, the gradients of the weights fall away. */
export function learningOperations(config: LlamaConfig, length: EpisodeLength, isAdapter: boolean): number {
  return (isAdapter ? 4 : 6) * products(config, length) + 12 * attention(config, length);
}

/** Of layers that are computed forwards once more, for a micro-batch's keys and values or for its backward pass (packing.ts). */
export const repeatedOperations = (config: LlamaConfig, { tokens }: EpisodeLength): number =>
  forwardOperations(config, { tokens, sampled: 0 });

function products(config: LlamaConfig, { tokens, sampled }: EpisodeLength): number {
  const { hiddenSize, intermediateSize, heads, keyValueHeads, headDim, layers, vocabularySize } = config;
  const layer = 2 * hiddenSize * headDim * (heads + keyValueHeads) + 3 * hiddenSize * intermediateSize;
  return layer * layers * tokens + hiddenSize * vocabularySize * sampled;
}

/** Each token looks at half of all on average. */
const attention = ({ layers, heads, headDim }: LlamaConfig, { tokens }: EpisodeLength): number =>
  (layers * heads * headDim * tokens ** 2) / 2;
