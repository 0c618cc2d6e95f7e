import { Graph, type Tensor } from '../graph/graph.js';
import type { Provider } from '../graph/provider.js';
import { multiplyDims } from '../graph/shape.js';
import { embeddingParameter, parameterShapes, type LlamaConfig } from './llamaConfig.js';
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
 *   past keys    of every layer, float32 [rows, keyValueHeads, past, headDim]
 *   past values  as the keys
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
  /** The embedding as the head's matrix, where that is given apart. */
  head: 'head',
} as const;

/** Logits float32 [picks, vocabulary]; keys and values of the given tokens, float32 [rows, keyValueHeads, time, headDim]. */
export const decodingOutputs = {
  logits: 'logits',
  keys: (layer: number) => `keys ${layer}`,
  values: (layer: number) => `values ${layer}`,
} as const;

export interface DecodingForm {
  readonly provider: Provider;
  readonly precision: Precision;
  /** Whether the factors of the products, see `productFactors`, are given when the graph is loaded and not at every run. */
  readonly keepsFactors: boolean;
}

/** The matrices that inputs are multiplied by: the graph's name for each, and the parameter's. */
export function productFactors(config: LlamaConfig): ReadonlyMap<string, string> {
  const factors = [...parameterShapes(config)].flatMap(([name, shape]) =>
    shape.length === 2 && name !== embeddingParameter ? [[name, name] as const] : [],
  );
  // Tokens are looked up in the embedding as it is.
  return new Map([...factors, ...(config.tieEmbeddings ? [[decodingInputs.head, embeddingParameter] as const] : [])]);
}

/** Logits of new tokens that follow a cache of keys and values, and their own keys and values. */
export function decodingGraph(
  config: LlamaConfig,
  adapter: AdapterConfig | null,
  { provider, precision, keepsFactors }: DecodingForm,
): ReadonlyMap<string, Tensor> {
  const multiply = provider === 'cpu' && !keepsFactors ? weightFirst : product;
  const graph = new Graph();
  const { weights } = modelInputs(graph, config, adapter, precision);
  const headWeights = new Map(weights);
  if (keepsFactors && config.tieEmbeddings)
    headWeights.set(embeddingParameter, graph.input(decodingInputs.head, [config.vocabularySize, config.hiddenSize]));
  const { keyValueHeads: kv, headDim: d } = config;
  const tokens = graph.input(decodingInputs.tokens, ['rows', 'time'], 'int32');
  const positions = graph.input(decodingInputs.positions, ['rows', 'time'], 'int64');
  const picks = graph.input(decodingInputs.picks, ['picks'], 'int32');
  const pastBias = graph.input(decodingInputs.pastBias, ['rows', 1, 1, 1, 'past']);
  const causalBias = graph.input(decodingInputs.causalBias, ['time', 'time']);
  const biases = { past: pastBias, now: causalBias };
  const slidingBiases = windowed(graph, config, positions, biases);
  const outputs = new Map<string, Tensor>();
  const { hidden } = decoder(graph, config, weights, tokens, {
    rows: 'rows',
    time: 'time',
    positions,
    multiply,
    attend: (layer, queries, keys, values) => {
      outputs.set(decodingOutputs.keys(layer), keys).set(decodingOutputs.values(layer), values);
      const bias = isSliding(config, layer) ? slidingBiases : biases;
      const past = {
        keys: graph.input(decodingInputs.pastKeys(layer), ['rows', kv, 'past', d]),
        values: graph.input(decodingInputs.pastValues(layer), ['rows', kv, 'past', d]),
        bias: bias.past,
      };
      const now = { keys, values, bias: bias.now };
      return attendToBoth(graph, queries, past, now, provider === 'cpu' ? queryByQuery : groupAtOnce);
    },
  });
  outputs.set(decodingOutputs.logits, head(graph, config, headWeights, graph.gather(hidden, picks), multiply));
  return outputs;
}

/**
 * The product as (weight . input^T)^T, for a weight that is given at the run: onnxruntime's kernels of the CPU copy the second factor into their own order at every run, and
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

/** The products of a group's rows [rows, kv, group, time, m] with what its head keeps, [rows, kv, n, d] or transposed. */
type GroupProduct = (graph: Graph, left: Tensor, right: Tensor, transposeB: boolean) => Tensor;

/** As one product of [group * time, m]. */
const groupAtOnce: GroupProduct = (graph, left, right, transposeB) => {
  const [rows, kv, group, time, width] = left.shape;
  const flat = graph.reshape(left, [rows, kv, multiplyDims([group, time]), width]);
  const products = graph.matmul(flat, right, { transposeB });
  return graph.reshape(products, [rows, kv, group, time, products.shape[3]]);
};

/** As one for each of the group: the CPU's kernels read the second factor in place where the first is a single row, or else copy it. */
const queryByQuery: GroupProduct = (graph, left, right, transposeB) => {
  const [rows, kv, length, width] = right.shape;
  return graph.matmul(left, graph.reshape(right, [rows, kv, 1, length, width]), { transposeB });
};

/**
 * Attention over the cache and the new tokens without joining them, which would copy the whole cache at every token:
 * softmax([a, b]) . [v, w] = (exp(a - m) . v + exp(b - m) . w) / (sum exp(a - m) + sum exp(b - m)).
 */
function attendToBoth(graph: Graph, queries: Tensor, past: Memory, now: Memory, multiply: GroupProduct): Tensor {
  const scores = ({ keys, bias }: Memory) => graph.add(multiply(graph, queries, keys, true), bias);
  const [pastScores, nowScores] = [scores(past), scores(now)];
  const maxima = graph.concat([graph.reduceMax(pastScores, [4]), graph.reduceMax(nowScores, [4])], 4);
  const maximum = graph.reduceMax(maxima, [4]);
  const weigh = (part: Tensor, { values }: Memory) => {
    const weights = graph.exp(graph.sub(part, maximum));
    return { sum: graph.reduceSum(weights, [4]), product: multiply(graph, weights, values, false) };
  };
  const [ofPast, ofNow] = [weigh(pastScores, past), weigh(nowScores, now)];
  return graph.div(graph.add(ofPast.product, ofNow.product), graph.add(ofPast.sum, ofNow.sum));
}
