import type { Provider } from '../graph/provider.js';
import type { LlamaConfig } from './llamaConfig.js';
import { causalBlocks } from './llamaGraph.js';
import type { PackingLimits } from './packing.js';
import type { Precision } from './precision.js';

/** On the CPU smaller tensors stay in the caches: 2,048 tokens cost 12 % less than 4,096. A GPU wants large ones. */
const mostMicroBatchTokens = (device: Provider): number => (device === 'cpu' ? 2048 : 4096);
/** A GPU compiles its kernels for every shape, so there should be few. */
const rowMultiple = (device: Provider): number => (device === 'cpu' ? 16 : 64);
const defaultActivationBytes = 2 ** 30;
/** Logits of one micro-batch, in numbers: a few tensors of this size live at once. */
const logitBudget = 2 ** 25;

/** What bounds the learner's micro-batches. */
export interface LearnerLimits {
  readonly config: LlamaConfig;
  readonly device: Provider;
  /** In what the matrices are kept; absent: float32. */
  readonly precision?: Precision;
  /** Bytes of what a micro-batch keeps for its backward pass; with fewer, more is computed twice. */
  readonly activationBytes?: number;
  /** Most tokens of one micro-batch. */
  readonly microBatchTokens?: number;
}

/**
 * Bytes that a micro-batch keeps of each token, which follows `past` others, for its backward pass: about a dozen states of a
 * layer, and the attention of rows of 512. What is computed in float16 (llamaLayers.ts) is kept so, but on the CPU, which
 * computes it by way of float32.
 */
export function activationBytesPerToken(
  { config, device, precision = 'float32' }: Pick<LearnerLimits, 'config' | 'device' | 'precision'>,
  past: number,
): number {
  const { layers, hiddenSize, intermediateSize, heads } = config;
  const all = 14 * hiddenSize + 5 * intermediateSize + (512 + past) * heads;
  const wide = precision === 'float32' || device === 'cpu' ? all : 8 * hiddenSize + intermediateSize;
  return layers * (4 * wide + 2 * (all - wide));
}

export function packingLimits(options: LearnerLimits): PackingLimits {
  const { config, device, microBatchTokens, activationBytes = defaultActivationBytes } = options;
  const { hiddenSize, intermediateSize, heads, keyValueHeads, headDim } = config;
  const most = microBatchTokens ?? mostMicroBatchTokens(device);
  const multiple = Math.min(rowMultiple(device), Math.ceil(most / causalBlocks) * causalBlocks);
  const layerWeights = 2 * hiddenSize * headDim * (heads + keyValueHeads) + 3 * hiddenSize * intermediateSize;
  const fitting = (past: number) => Math.floor(activationBytes / activationBytesPerToken(options, past));
  return {
    tokens: (past) => Math.max(multiple, Math.min(most, fitting(past))),
    targets: Math.max(64, Math.floor(logitBudget / config.vocabularySize)),
    multiple,
    attentionCost: (2 * heads * headDim) / layerWeights,
    maxPositions: config.maxPositions,
    vocabularySize: config.vocabularySize,
  };
}
