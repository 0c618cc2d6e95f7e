import { Tensor as OrtTensor } from './onnxRuntime.js';
import type { Graph, Tensor } from '../graph/graph.js';
import { multiplyDims, type Dim } from '../graph/shape.js';
import {
  embeddingParameter,
  finalNormParameter,
  headParameter,
  layerParameter,
  parameterShapes,
  type LlamaConfig,
} from './llamaConfig.js';

/** The building blocks that training and decoding share. Tokens are laid flat, [rows * time, width], between blocks. */
export interface AttentionContext {
  readonly rows: Dim;
  /** Tokens of a row that are computed now; a decoder has earlier ones in its cache. */
  readonly time: Dim;
  /** int64 [rows, time]: a token's place in its own sequence. */
  readonly positions: Tensor;
  /** Added to the scores, 0 where a query may look and very negative elsewhere: [rows, 1, 1, time, keys]. */
  readonly bias: Tensor;
  /**
   * A decoder's attention over its cache and the new tokens, instead of that among the new tokens alone: queries
   * [rows, kv, heads / kv, time, d], new keys and values [rows, kv, time, d] -> [rows, kv, heads / kv, time, d].
   */
  readonly attend?: (layer: number, queries: Tensor, keys: Tensor, values: Tensor) => Tensor;
}

/** Parameters by their Hugging Face names, each declared as an input of the graph. */
export function parameterInputs(graph: Graph, config: LlamaConfig): Map<string, Tensor> {
  return new Map([...parameterShapes(config)].map(([name, shape]) => [name, graph.input(name, shape)]));
}

/** Hidden states after the last norm: tokenIds int32 [rows, time] -> [rows * time, hidden]. */
export function decoder(
  graph: Graph,
  config: LlamaConfig,
  weights: ReadonlyMap<string, Tensor>,
  tokenIds: Tensor,
  context: AttentionContext,
): Tensor {
  const tokens = multiplyDims([context.rows, context.time]);
  const tables = rotaryTables(graph, config);
  let x = graph.gather(weight(weights, embeddingParameter), graph.reshape(tokenIds, [tokens]));
  for (let layer = 0; layer < config.layers; layer++) {
    x = graph.at(`layer ${layer}`, () => decoderLayer(graph, config, layer, weights, x, context, tables));
  }
  return graph.rmsNorm(x, weight(weights, finalNormParameter), config.rmsEpsilon);
}

/** Logits of hidden states: [n, hidden] -> [n, vocabulary]. */
export function head(graph: Graph, config: LlamaConfig, weights: ReadonlyMap<string, Tensor>, hidden: Tensor): Tensor {
  const table = weight(weights, config.tieEmbeddings ? embeddingParameter : headParameter);
  return graph.at('head', () => graph.matmul(hidden, table, { transposeB: true }));
}

/** Bias for tokens that lie in one row: a query sees the keys of its own segment up to its own position. */
export function segmentBias(
  graph: Graph,
  queries: { readonly segments: Tensor; readonly positions: Tensor },
  keys: { readonly segments: Tensor; readonly positions: Tensor },
): Tensor {
  const [rows, time] = queries.segments.shape;
  const [, length] = keys.segments.shape;
  const down = (tensor: Tensor) => graph.reshape(tensor, [rows, 1, 1, time, 1]);
  const across = (tensor: Tensor) => graph.reshape(tensor, [rows, 1, 1, 1, length]);
  const sameSegment = graph.equal(down(queries.segments), across(keys.segments));
  const notLater = graph.greaterOrEqual(down(queries.positions), across(keys.positions));
  return graph.where(graph.and(sameSegment, notLater), graph.scalar(0), graph.scalar(-1e9));
}

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
  const linear = (input: Tensor, name: string) => graph.matmul(input, weight(weights, name), { transposeB: true });
  const { rows, time } = context;
  const { heads, keyValueHeads: kv, headDim: d } = config;

  const attentionInput = normed(x, layerParameter.inputNorm(layer));
  const project = (name: string, count: number) => graph.reshape(linear(attentionInput, name), [rows, time, count * d]);
  const queries = graph.rotary(
    project(layerParameter.query(layer), heads),
    context.positions,
    tables.queryCosines,
    tables.querySines,
  );
  const keys = graph.rotary(project(layerParameter.key(layer), kv), context.positions, tables.cosines, tables.sines);
  const byHead = (tensor: Tensor) => graph.transpose(graph.reshape(tensor, [rows, time, kv, d]), [0, 2, 1, 3]);
  const now = { keys: byHead(keys), values: byHead(project(layerParameter.value(layer), kv)) };

  const group = heads / kv;
  const grouped = graph.transpose(graph.reshape(queries, [rows, time, kv, group, d]), [0, 2, 3, 1, 4]);
  const attended = context.attend
    ? context.attend(layer, grouped, now.keys, now.values)
    : graph.attend(grouped, now.keys, now.values, context.bias);
  const flat = graph.reshape(graph.transpose(attended, [0, 3, 1, 2, 4]), [multiplyDims([rows, time]), heads * d]);
  const residual = graph.add(x, linear(flat, layerParameter.output(layer)));

  const mlpInput = normed(residual, layerParameter.postAttentionNorm(layer));
  const gated = graph.mul(
    graph.silu(linear(mlpInput, layerParameter.gate(layer))),
    linear(mlpInput, layerParameter.up(layer)),
  );
  return graph.add(residual, linear(gated, layerParameter.down(layer)));
}

/** cos and sin of position * theta^(-2i/d), i < d/2, as tables [maxPositions, d/2] (RoFormer, arXiv 2104.09864). */
export function rotaryTable(config: LlamaConfig): { cosines: Float32Array; sines: Float32Array } {
  const half = config.headDim / 2;
  const cosines = new Float32Array(config.maxPositions * half);
  const sines = new Float32Array(config.maxPositions * half);
  for (let position = 0; position < config.maxPositions; position++) {
    for (let i = 0; i < half; i++) {
      const angle = position * config.ropeTheta ** (-i / half);
      cosines[position * half + i] = Math.cos(angle);
      sines[position * half + i] = Math.sin(angle);
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
