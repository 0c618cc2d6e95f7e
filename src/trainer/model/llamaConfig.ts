import type { RopeShape } from './rope.js';

/** The kinds of config.json that are read; all are Llamas with a few features of their own. */
export const modelTypes = ['llama', 'mistral', 'qwen2', 'qwen3', 'smollm3'] as const;
export type ModelType = (typeof modelTypes)[number];

/**
 * The shape of a Llama-like decoder: RMSNorm, rotary positions, grouped-query attention, SwiGLU. The optional fields are
 * what some kinds have beyond that.
 */
export interface LlamaConfig extends RopeShape {
  /** `llama` where absent. */
  readonly modelType?: ModelType;
  readonly vocabularySize: number;
  readonly hiddenSize: number;
  readonly intermediateSize: number;
  readonly layers: number;
  readonly heads: number;
  /** Divides `heads`; each key/value head serves heads / keyValueHeads query heads. */
  readonly keyValueHeads: number;
  /** Which projections add a bias; none where absent. */
  readonly biases?: { readonly queryKeyValue: boolean; readonly output: boolean; readonly mlp: boolean };
  /** Whether each head's queries and keys go through an RMSNorm before they are turned (Qwen3). */
  readonly queryKeyNorm?: boolean;
  /** Layers whose queries and keys are not turned (SmolLM3), ascending. */
  readonly layersWithoutRope?: readonly number[];
  /** In these layers (ascending) a token sees itself and the `tokens - 1` before it, no more. */
  readonly slidingWindow?: { readonly tokens: number; readonly layers: readonly number[] };
  readonly rmsEpsilon: number;
  /** True where the head is the embedding's transpose and `lm_head.weight` does not exist. */
  readonly tieEmbeddings: boolean;
  /** Longest sequence that is computed, in tokens; no longer than the model was made for. */
  readonly maxPositions: number;
}

/** Names as in Hugging Face's checkpoints; matrices are [out, in]. */
export const layerParameter = {
  inputNorm: (layer: number) => `model.layers.${layer}.input_layernorm.weight`,
  query: (layer: number) => `model.layers.${layer}.self_attn.q_proj.weight`,
  key: (layer: number) => `model.layers.${layer}.self_attn.k_proj.weight`,
  value: (layer: number) => `model.layers.${layer}.self_attn.v_proj.weight`,
  output: (layer: number) => `model.layers.${layer}.self_attn.o_proj.weight`,
  postAttentionNorm: (layer: number) => `model.layers.${layer}.post_attention_layernorm.weight`,
  gate: (layer: number) => `model.layers.${layer}.mlp.gate_proj.weight`,
  up: (layer: number) => `model.layers.${layer}.mlp.up_proj.weight`,
  down: (layer: number) => `model.layers.${layer}.mlp.down_proj.weight`,
  queryNorm: (layer: number) => `model.layers.${layer}.self_attn.q_norm.weight`,
  keyNorm: (layer: number) => `model.layers.${layer}.self_attn.k_norm.weight`,
} as const;

/** The bias beside a projection's weight. */
export const biasOf = (weight: string): string => weight.replace(/weight$/, 'bias');

export const embeddingParameter = 'model.embed_tokens.weight';
export const finalNormParameter = 'model.norm.weight';
export const headParameter = 'lm_head.weight';

/** Every parameter's name and shape, in a fixed order; `lm_head.weight` only where embeddings are not tied. */
export function parameterShapes(config: LlamaConfig): Map<string, number[]> {
  const { hiddenSize, intermediateSize, headDim } = config;
  const queryWidth = config.heads * headDim;
  const keyWidth = config.keyValueHeads * headDim;
  const { biases } = config;
  const shapes = new Map<string, number[]>([[embeddingParameter, [config.vocabularySize, hiddenSize]]]);
  const project = (name: string, width: number, inputWidth: number, biased = false) => {
    shapes.set(name, [width, inputWidth]);
    if (biased) shapes.set(biasOf(name), [width]);
  };
  for (let layer = 0; layer < config.layers; layer++) {
    shapes.set(layerParameter.inputNorm(layer), [hiddenSize]);
    project(layerParameter.query(layer), queryWidth, hiddenSize, biases?.queryKeyValue);
    project(layerParameter.key(layer), keyWidth, hiddenSize, biases?.queryKeyValue);
    project(layerParameter.value(layer), keyWidth, hiddenSize, biases?.queryKeyValue);
    project(layerParameter.output(layer), hiddenSize, queryWidth, biases?.output);
    if (config.queryKeyNorm) {
      shapes.set(layerParameter.queryNorm(layer), [headDim]);
      shapes.set(layerParameter.keyNorm(layer), [headDim]);
    }
    shapes.set(layerParameter.postAttentionNorm(layer), [hiddenSize]);
    project(layerParameter.gate(layer), intermediateSize, hiddenSize, biases?.mlp);
    project(layerParameter.up(layer), intermediateSize, hiddenSize, biases?.mlp);
    project(layerParameter.down(layer), hiddenSize, intermediateSize, biases?.mlp);
  }
  shapes.set(finalNormParameter, [hiddenSize]);
  if (!config.tieEmbeddings) shapes.set(headParameter, [config.vocabularySize, hiddenSize]);
  return shapes;
}

export const elementCount = (shape: readonly number[]): number => shape.reduce((product, size) => product * size, 1);

/**
 * Fresh parameters: norms 1, biases 0, matrices normal with deviation 0.02, those that write into the residual stream
 * (o_proj, down_proj) scaled by 1/sqrt(2 * layers) as in GPT-2. The same seed gives the same bits.
 */
export function initializeParameters(config: LlamaConfig, seed: number): Map<string, Float32Array> {
  const normal = normalStream(seed);
  const parameters = new Map<string, Float32Array>();
  for (const [name, shape] of parameterShapes(config)) {
    const values = new Float32Array(elementCount(shape));
    if (shape.length === 1) {
      values.fill(name.endsWith('.bias') ? 0 : 1);
    } else {
      const residual = name.endsWith('o_proj.weight') || name.endsWith('down_proj.weight');
      const deviation = residual ? 0.02 / Math.sqrt(2 * config.layers) : 0.02;
      for (let i = 0; i < values.length; i++) values[i] = normal() * deviation;
    }
    parameters.set(name, values);
  }
  return parameters;
}

/** Standard normal numbers by Box and Muller's method over a 32-bit counter generator (mulberry32). */
export function normalStream(seed: number): () => number {
  let state = seed >>> 0;
  const uniform = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  return () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
}
