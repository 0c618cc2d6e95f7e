import { Graph, type Tensor } from '../graph/graph.js';
import type { Provider } from '../graph/provider.js';
import { multiplyDims } from '../graph/shape.js';
import type { LlamaConfig } from './llamaConfig.js';
import type { AdapterConfig } from './lora.js';
import type { Precision } from './precision.js';
import { decoder, head, isSliding, modelInputs, type Multiply, product, withinWindow } from './llamaLayers.js';

/**
 * Inputs beside the parameters and the rotary tables; `past` is the cache's capacity, a row may have filled less of it:
 *   tokens       int32 [rows, time]
 *   positions    int64 [rows, time]
 *   picks        int32 [picks]: flat index (row * time + column) of the tokens whose logits are wanted
 *   past bias    float32 [rows, 1, 1, 1, past]: 0 where the row's cache is filled, very negative elsewhere
 *   causal bias  float32 [time, time]: 0 up to the diagonal, very negative above
 *   past keys    of every layer, float32 [rows, keyValueHeads, headDim, past]
 *   past values  of every layer, float32 [rows, keyValueHeads, past, headDim]
 *   past places  int32 [past]: 0, 1, 2, ..., the positions in the cache; only where a layer sees a sliding window
 */
export const decodingInputs = {
  tokens: 'tokens',
  positions: 'positions',
  picks: 'picks',
  pastBias: 'past bias',
  causalBias: 'causal bias',
  pastKeys: (layer: number) => `past keys ${layer}`,
  pastValues: (layer: number) => `past values ${layer}`,
  pastPlaces: 'past places',
} as const;

/** Logits float32 [picks, vocabulary]; keys and values of the given tokens, float32 [rows, keyValueHeads, time, headDim]. */
export const decodingOutputs = {
  logits: 'logits',
  keys: (layer: number) => `keys ${layer}`,
  values: (layer: number) => `values ${layer}`,
} as const;

/** Logits of new tokens that follow a cache of keys and values, and their own keys and values; as `provider` computes it best. */
export function decodingGraph(
  config: LlamaConfig,
  adapter: AdapterConfig | null,
  provider: Provider,
  precision: Precision = 'float32',
): ReadonlyMap<string, Tensor> {
  const multiply = provider === 'cpu' ? weightFirst : product;
  const graph = new Graph();
  const { weights } = modelInputs(graph, config, adapter, precision);
  const { keyValueHeads: kv, headDim: d } = config;
  const tokens = graph.input(decodingInputs.tokens, ['rows', 'time'], 'int32');
  const positions = graph.input(decodingInputs.positions, ['rows', 'time'], 'int64');
  const picks = graph.input(decodingInputs.picks, ['picks'], 'int32');
  const pastBias = graph.input(decodingInputs.pastBias, ['rows', 1, 1, 1, 'past']);
  const causalBias = graph.input(decodingInputs.causalBias, ['time', 'time']);
  const biases = { past: pastBias, now: causalBias };
  const slidingBiases = windowed(graph, config, positions, biases);
  const outputs = new Map<string, Tensor>();
  const hidden = decoder(graph, config, weights, tokens, {
    rows: 'rows',
    time: 'time',
    positions,
    multiply,
    attend: (layer, queries, keys, values) => {
      outputs.set(decodingOutputs.keys(layer), keys).set(decodingOutputs.values(layer), values);
      const bias = isSliding(config, layer) ? slidingBiases : biases;
      const past = {
        keys: graph.input(decodingInputs.pastKeys(layer), ['rows', kv, d, 'past']),
        values: graph.input(decodingInputs.pastValues(layer), ['rows', kv, 'past', d]),
        bias: bias.past,
      };
      return attendToBoth(graph, queries, past, { keys, values, bias: bias.now });
    },
  });
  outputs.set(decodingOutputs.logits, head(graph, config, weights, graph.gather(hidden, picks), multiply));
  return outputs;
}

/**
 * The product as (weight . input^T)^T: onnxruntime's kernels of the CPU copy the second factor into their own order at every run, and
 * a few tokens are copied faster than a weight: the products of 16 tokens take a third less time, those of one a tenth more.
 */
const weightFirst: Multiply = (graph, input, weight) => {
  const [count, width] = input.shape;
  const columns = graph.matmul(weight, graph.reshape(input, [1, count, width]), { transposeB: true });
  return graph.reshape(graph.transpose(columns, [0, 2, 1]), [count, weight.shape[0]]);
};

interface Biases {
  readonly past: Tensor;
  readonly now: Tensor;
}

/** The biases of layers that see a window: as given, and very negative for keys too far back. */
function windowed(graph: Graph, config: LlamaConfig, positions: Tensor, given: Biases): Biases {
  if (config.slidingWindow === undefined) return given;
  const window = config.slidingWindow.tokens;
  const places = graph.cast(positions, 'int32');
  const queries = graph.reshape(places, ['rows', 1, 1, 'time', 1]);
  const nowKeys = graph.reshape(places, ['rows', 1, 1, 1, 'time']);
  const pastKeys = graph.input(decodingInputs.pastPlaces, ['past'], 'int32');
  const cut = (bias: Tensor, keys: Tensor) =>
    graph.where(withinWindow(graph, queries, keys, window), bias, graph.scalar(-1e9));
  return { past: cut(given.past, pastKeys), now: cut(given.now, nowKeys) };
}

interface Memory {
  readonly keys: Tensor;
  readonly values: Tensor;
  readonly bias: Tensor;
}

/**
 * Attention over the cache and the new tokens without joining them, which would copy the whole cache at every token:
 * softmax([a, b]) . [v, w] = (exp(a - m) . v + exp(b - m) . w) / (sum exp(a - m) + sum exp(b - m)). Past keys are
 * transposed already: [rows, kv, d, past].
 */
function attendToBoth(graph: Graph, queries: Tensor, past: Memory, now: Memory): Tensor {
  const [rows, kv, group, time, d] = queries.shape;
  const flat = multiplyDims([group, time]);
  const flatQueries = graph.reshape(queries, [rows, kv, flat, d]);
  const scores = (keys: Tensor, transposeB: boolean, bias: Tensor) => {
    const products = graph.matmul(flatQueries, keys, { transposeB });
    const length = products.shape[3];
    return graph.add(graph.reshape(products, [rows, kv, group, time, length]), bias);
  };
  const [pastScores, nowScores] = [scores(past.keys, false, past.bias), scores(now.keys, true, now.bias)];
  const maxima = graph.concat([graph.reduceMax(pastScores, [4]), graph.reduceMax(nowScores, [4])], 4);
  const maximum = graph.reduceMax(maxima, [4]);
  const weigh = (part: Tensor, values: Tensor) => {
    const weights = graph.exp(graph.sub(part, maximum));
    const product = graph.matmul(graph.reshape(weights, [rows, kv, flat, part.shape[4]]), values);
    return { sum: graph.reduceSum(weights, [4]), product: graph.reshape(product, [rows, kv, group, time, d]) };
  };
  const [ofPast, ofNow] = [weigh(pastScores, past.values), weigh(nowScores, now.values)];
  return graph.div(graph.add(ofPast.product, ofNow.product), graph.add(ofPast.sum, ofNow.sum));
}
