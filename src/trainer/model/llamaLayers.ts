import { Tensor as OrtTensor } from './onnxRuntime.js';
import type { Graph, Tensor } from '../graph/graph.js';
import { multiplyDims, type DType, type Dim } from '../graph/shape.js';
import {
  biasOf,
  embeddingParameter,
  finalNormParameter,
  headParameter,
  layerParameter,
  parameterShapes,
  type LlamaConfig,
} from './llamaConfig.js';
import type { AdapterConfig } from './lora.js';
import { adapterInputs, lowRankProduct } from './loraGraph.js';
import { typeOf, type Precision } from './precision.js';
import { ropeFrequencies } from './rope.js';

/**
 * The building blocks that training and decoding share. Tokens are laid flat, [rows * time, width], between blocks. Where the
 * matrices are float16, so are the operands of their products and what the MLP does between them; the states from layer to
 * layer, norms, rotations, biases and an adapter's products are float32.
 */
export interface AttentionContext {
  readonly rows: Dim;
  /** Tokens of a row that are computed now; a decoder has earlier ones in its cache. */
  readonly time: Dim;
  /** int64 [rows, time]: a token's place in its own sequence. */
  readonly positions: Tensor;
  /**
   * A layer's attention: queries [rows, kv, heads / kv, time, d], keys and values of the tokens that are computed now
   * [rows, kv, time, d] -> [rows, kv, heads / kv, time, d]. They are float32; what it gives may be as narrow as the matrices.
   */
  readonly attend: (layer: number, queries: Tensor, keys: Tensor, values: Tensor) => Tensor;
  /** How inputs [n, in] are multiplied by a weight [out, in]; `product` where absent. */
  readonly multiply?: Multiply;
}

/** [n, in] by a weight [out, in] -> [n, out]. */
export type Multiply = (graph: Graph, input: Tensor, weight: Tensor) => Tensor;

export const product: Multiply = (graph, input, weight) => graph.matmul(input, weight, { transposeB: true });

export interface ModelInputs {
  /** Everything that the layers look up, by Hugging Face's names. */
  readonly weights: ReadonlyMap<string, Tensor>;
  /** The inputs that are trained: the adapter's factors, or where there is none all parameters. */
  readonly trained: ReadonlyMap<string, Tensor>;
}

/** Declares the parameters, and the factors of an adapter on top of them, as inputs of the graph. */
export function modelInputs(
  graph: Graph,
  config: LlamaConfig,
  adapter: AdapterConfig | null,
  precision: Precision,
): ModelInputs {
  const parameters = new Map(
    [...parameterShapes(config)].map(([name, shape]) => [name, graph.input(name, shape, typeOf(shape, precision))]),
  );
  if (!adapter) return { weights: parameters, trained: parameters };
  const { inputs, weights } = adapterInputs(graph, config, adapter);
  return { weights: new Map([...parameters, ...weights]), trained: inputs };
}

/** tokenIds int32 [rows, time] -> [rows * time, hidden]: the states after the last norm, and those that each layer is given. */
export function decoder(
  graph: Graph,
  config: LlamaConfig,
  weights: ReadonlyMap<string, Tensor>,
  tokenIds: Tensor,
  context: AttentionContext,
): { readonly hidden: Tensor; readonly layerInputs: readonly Tensor[] } {
  const tokens = multiplyDims([context.rows, context.time]);
  const tables = rotaryTables(graph, config);
  let x = wide(graph, graph.gather(weight(weights, embeddingParameter), graph.reshape(tokenIds, [tokens])));
  const layerInputs: Tensor[] = [];
  for (let layer = 0; layer < config.layers; layer++) {
    layerInputs.push(x);
    x = graph.at(`layer ${layer}`, () => decoderLayer(graph, config, layer, weights, x, context, tables));
  }
  return { hidden: graph.rmsNorm(x, weight(weights, finalNormParameter), config.rmsEpsilon), layerInputs };
}

/** Logits of hidden states, float32: [n, hidden] -> [n, vocabulary]. */
export function head(
  graph: Graph,
  config: LlamaConfig,
  weights: ReadonlyMap<string, Tensor>,
  hidden: Tensor,
  multiply = product,
): Tensor {
  const table = weight(weights, config.tieEmbeddings ? embeddingParameter : headParameter);
  return graph.at('head', () => wide(graph, multiply(graph, graph.cast(hidden, table.dtype), table)));
}

/** The type of the products with a model's matrices. */
export const productType = (weights: ReadonlyMap<string, Tensor>): DType => weight(weights, embeddingParameter).dtype;

const wide = (graph: Graph, tensor: Tensor): Tensor => graph.cast(tensor, 'float32');

/** Whether a query's position is less than `window` after a key's, both int32. */
export function withinWindow(graph: Graph, queries: Tensor, keys: Tensor, window: number): Tensor {
  return graph.greaterOrEqual(graph.add(keys, graph.constant([window - 1], [], 'int32')), queries);
}

/** Whether a layer sees a window of the tokens before, not all of them. */
export const isSliding = (config: LlamaConfig, layer: number): boolean =>
  config.slidingWindow?.layers.includes(layer) ?? false;

interface RotaryTables {
  readonly cosines: Tensor;
  readonly sines: Tensor;
  /** Those of the queries carry the scores' 1/sqrt(d), which then costs nothing. */
  readonly queryCosines: Tensor;
  readonly querySines: Tensor;
}

function decoderLayer(
  graph: Graph,
  config: LlamaConfig,
  layer: number,
  weights: ReadonlyMap<string, Tensor>,
  x: Tensor,
  context: AttentionContext,
  tables: RotaryTables,
): Tensor {
  const normed = (input: Tensor, name: string) => graph.rmsNorm(input, weight(weights, name), config.rmsEpsilon);
  const { rows, time, multiply = product } = context;
  const narrow = (tensor: Tensor) => graph.cast(tensor, productType(weights));
  const linear = (input: Tensor, name: string) => {
    const ofModel = wide(graph, multiply(graph, narrow(input), weight(weights, name)));
    const added = lowRankProduct(graph, weights, wide(graph, input), name);
    const adapted = added ? graph.add(ofModel, added) : ofModel;
    const bias = weights.get(biasOf(name));
    return bias ? graph.add(adapted, bias) : adapted;
  };
  const { heads, keyValueHeads: kv, headDim: d } = config;

  const attentionInput = normed(x, layerParameter.inputNorm(layer));
  const project = (name: string, count: number) => graph.reshape(linear(attentionInput, name), [rows, time, count * d]);
  const normedHeads = (input: Tensor, name: string, count: number) =>
    config.queryKeyNorm
      ? graph.reshape(normed(graph.reshape(input, [rows, time, count, d]), name), [rows, time, count * d])
      : input;
  const plainQueries = normedHeads(project(layerParameter.query(layer), heads), layerParameter.queryNorm(layer), heads);
  const plainKeys = normedHeads(project(layerParameter.key(layer), kv), layerParameter.keyNorm(layer), kv);
  const turns = !config.layersWithoutRope?.includes(layer);
  const queries = turns
    ? graph.rotary(plainQueries, context.positions, tables.queryCosines, tables.querySines)
    : graph.mul(plainQueries, graph.scalar(1 / Math.sqrt(d)));
  const keys = turns ? graph.rotary(plainKeys, context.positions, tables.cosines, tables.sines) : plainKeys;
  const byHead = (tensor: Tensor) => graph.transpose(graph.reshape(tensor, [rows, time, kv, d]), [0, 2, 1, 3]);
  const now = { keys: byHead(keys), values: byHead(project(layerParameter.value(layer), kv)) };

  const group = heads / kv;
  const grouped = graph.transpose(graph.reshape(queries, [rows, time, kv, group, d]), [0, 2, 3, 1, 4]);
  const attended = context.attend(layer, grouped, now.keys, now.values);
  const flat = graph.reshape(graph.transpose(attended, [0, 3, 1, 2, 4]), [multiplyDims([rows, time]), heads * d]);
  const residual = graph.add(x, linear(flat, layerParameter.output(layer)));

  const mlpInput = normed(residual, layerParameter.postAttentionNorm(layer));
  const gated = graph.mul(
    graph.silu(narrow(linear(mlpInput, layerParameter.gate(layer)))),
    narrow(linear(mlpInput, layerParameter.up(layer))),
  );
  return graph.add(residual, linear(gated, layerParameter.down(layer)));
}

/** cos and sin of position * frequency of each of a head's d/2 pairs, as tables [maxPositions, d/2]. */
export function rotaryTable(config: LlamaConfig): { cosines: Float32Array; sines: Float32Array } {
  const { frequencies, magnitude } = ropeFrequencies(config);
  const half = frequencies.length;
  const cosines = new Float32Array(config.maxPositions * half);
  const sines = new Float32Array(config.maxPositions * half);
  for (let position = 0; position < config.maxPositions; position++) {
    for (let i = 0; i < half; i++) {
      const angle = position * frequencies[i]!;
      cosines[position * half + i] = magnitude * Math.cos(angle);
      sines[position * half + i] = magnitude * Math.sin(angle);
    }
  }
  return { cosines, sines };
}

/** The tables are inputs, so that the graph holds no numbers: feed `rotaryFeeds`. */
const rotaryInputs = { cosines: 'rotary.cosines', sines: 'rotary.sines' } as const;

/** Feeds for the tables that every graph with a `decoder` in it has as inputs. */
export function rotaryFeeds(config: LlamaConfig): Record<string, OrtTensor> {
  const shape = [config.maxPositions, config.headDim / 2];
  const { cosines, sines } = rotaryTable(config);
  return {
    [rotaryInputs.cosines]: new OrtTensor('float32', cosines, shape),
    [rotaryInputs.sines]: new OrtTensor('float32', sines, shape),
  };
}

function rotaryTables(graph: Graph, config: LlamaConfig): RotaryTables {
  const shape = [config.maxPositions, config.headDim / 2];
  const cosines = graph.input(rotaryInputs.cosines, shape);
  const sines = graph.input(rotaryInputs.sines, shape);
  const scale = graph.scalar(1 / Math.sqrt(config.headDim));
  return { cosines, sines, queryCosines: graph.mul(cosines, scale), querySines: graph.mul(sines, scale) };
}

function weight(weights: ReadonlyMap<string, Tensor>, name: string): Tensor {
  const found = weights.get(name);
  if (!found) throw new Error(`internal: the parameter "${name}" is not in the graph.`);
  return found;
}
