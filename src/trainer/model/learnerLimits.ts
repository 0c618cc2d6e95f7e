import type { Provider } from '../graph/provider.js';
import type { LlamaConfig } from './llamaConfig.js';
import { causalBlocks } from './llamaGraph.js';
import { causalShare, type PackingLimits } from './packing.js';
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

/**
 * Bytes of one row of so many tokens where each layer's input is kept alone: those, and of one layer at a time all that its backward
 * pass needs, of attention's weights two to five copies. At its height that is float32 for the most part, whatever the matrices are.
 */
export function recomputedActivationBytes(
  { config }: Pick<LearnerLimits, 'config'>,
  past: number,
  tokens: number,
): number {
  const { layers, hiddenSize, intermediateSize, heads } = config;
  const attention = heads * (2 * causalShare * tokens + 4.5 * past);
  return 4 * tokens * (layers * hiddenSize + 14 * hiddenSize + 9 * intermediateSize + attention);
}

export function packingLimits(options: LearnerLimits): PackingLimits {
  const { config, device, microBatchTokens, activationBytes = defaultActivationBytes } = options;
  const { hiddenSize, intermediateSize, heads, keyValueHeads, headDim } = config;
  const most = microBatchTokens ?? mostMicroBatchTokens(device);
  const multiple = Math.min(rowMultiple(device), Math.ceil(most / causalBlocks) * causalBlocks);
  const layerWeights = 2 * hiddenSize * headDim * (heads + keyValueHeads) + 3 * hiddenSize * intermediateSize;
  const fitting = (past: number) => Math.floor(activationBytes / activationBytesPerToken(options, past));
  const tokens = (past: number) => Math.max(multiple, Math.min(most, fitting(past)));
  return {
    tokens,
    recomputedTokens: (past) =>
      Math.max(tokens(past), Math.min(most, recomputedFitting(options, past, activationBytes))),
    targets: Math.max(64, Math.floor(logitBudget / config.vocabularySize)),
    multiple,
    attentionCost: (2 * heads * headDim) / layerWeights,
    maxPositions: config.maxPositions,
    vocabularySize: config.vocabularySize,
  };
}

/** The most tokens whose `recomputedActivationBytes` are at most so many. */
function recomputedFitting(options: Pick<LearnerLimits, 'config'>, past: number, bytes: number): number {
  // n tokens take n (a + b n), of which those of one and of two are known.
  const ofOne = recomputedActivationBytes(options, past, 1);
  const b = recomputedActivationBytes(options, past, 2) / 2 - ofOne;
  const a = ofOne - b;
  return Math.floor((Math.sqrt(a * a + 4 * b * bytes) - a) / (2 * b));
}
