import type { LlamaConfig } from '../../src/trainer/model/llamaConfig.js';

const common = { headDim: 64, ropeTheta: 10_000, rmsEpsilon: 1e-5, tieEmbeddings: true, maxPositions: 4096 };
/** The shapes that the benchmarks measure, by name. */
export const models: Readonly<Record<string, LlamaConfig>> = {
  small: {
    ...common,
    vocabularySize: 2048,
    hiddenSize: 256,
    intermediateSize: 704,
    layers: 4,
    heads: 4,
    keyValueHeads: 4,
  },
  '30m': {
    ...common,
    vocabularySize: 8192,
    hiddenSize: 512,
    intermediateSize: 1408,
    layers: 8,
    heads: 8,
    keyValueHeads: 8,
  },
  // The shape of SmolLM2-135M.
  '135m': {
    ...common,
    ropeTheta: 100_000,
    vocabularySize: 49_152,
    hiddenSize: 576,
    intermediateSize: 1536,
    layers: 30,
    heads: 9,
    keyValueHeads: 3,
  },
  // The shape of Qwen2.5-0.5B, without its biases.
  'qwen0.5b': {
    ...common,
    vocabularySize: 151_936,
    hiddenSize: 896,
    intermediateSize: 4864,
    layers: 24,
    heads: 14,
    keyValueHeads: 2,
  },
};
