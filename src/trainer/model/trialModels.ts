import { emitModel } from '../graph/emit.js';
import { Graph } from '../graph/graph.js';
import type { Provider } from '../graph/provider.js';
import { narrowParameters } from './frozenParameters.js';
import { initializeParameters, normalStream, type LlamaConfig } from './llamaConfig.js';
import { trainingGraph, trainingInputs } from './llamaGraph.js';
import { freshAdapter, projections, type Adapter, type AdapterConfig } from './lora.js';
import { weightFeeds } from './modelWeights.js';
import { Tensor } from './onnxRuntime.js';
import type { Precision } from './precision.js';

/** An array for an input of a model, in a form that goes through JSON. */
export interface TrialFeed {
  readonly name: string;
  readonly type: string;
  readonly dims: readonly number[];
  readonly data: readonly number[];
}

/** Matrix products of a chain, each 2 * size^3 operations. */
export const chainedProducts = 4;

/** a, multiplied by itself again and again; `a` is [size, size]. */
export function productsModel(): Uint8Array {
  const graph = new Graph();
  const a = graph.input('a', ['size', 'size']);
  let product = a;
  for (let i = 0; i < chainedProducts; i++) product = graph.matmul(product, a);
  return emitModel(new Map([['product', product]]));
}

/** Weights of `decoderModel`, each of size^2 numbers. */
export const decoderWeights = 4;
export const decodedRows = 8;

/** What a decoder does with its weights, which it is fed for every token: rows of a batch times square matrices w0, w1, ... */
export function decoderModel(): Uint8Array {
  const graph = new Graph();
  let states = graph.input('states', [decodedRows, 'size']);
  for (let index = 0; index < decoderWeights; index++) {
    states = graph.matmul(states, graph.input(`w${index}`, ['size', 'size']));
  }
  return emitModel(new Map([['product', states]]));
}

/** Small, and with the features that bring operators of their own. */
const trialConfig: LlamaConfig = {
  vocabularySize: 96,
  hiddenSize: 32,
  intermediateSize: 64,
  layers: 1,
  heads: 4,
  keyValueHeads: 2,
  headDim: 8,
  biases: { queryKeyValue: true, output: false, mlp: false },
  queryKeyNorm: true,
  ropeTheta: 10_000,
  rmsEpsilon: 1e-5,
  tieEmbeddings: true,
  maxPositions: 32,
};

/** What a step of learning is tried with: all parameters in float32, or an adapter on top of float16 matrices. */
const trialAdapter: AdapterConfig = { rank: 2, alpha: 4, targets: projections };

/** The graph of a step of learning for a small random model, as `provider` is given it; of an adapter where one is `adapted`. */
export const stepModel = (provider: Provider, adapted = false, precision: Precision = 'float32'): Uint8Array =>
  emitModel(
    trainingGraph(
      trialConfig,
      adapted ? trialAdapter : null,
      { past: false, scores: true, stateValues: false, memory: false, gradient: true, recomputed: false },
      precision,
    ),
    provider,
  );

/** What that step is asked: two sequences in a row, of which every token but the first is a target. */
export function stepFeeds(adapted = false, precision: Precision = 'float32'): TrialFeed[] {
  const [length, half] = [16, 8];
  const places = Array.from({ length }, (_, index) => index);
  const targets = places.filter((place) => place % half !== 0);
  const int32 = (values: readonly number[], dims: number[]) => new Tensor('int32', Int32Array.from(values), dims);
  const float32 = (values: readonly number[], dims: number[]) => new Tensor('float32', Float32Array.from(values), dims);
  const token = (place: number) => (place * 37 + 11) % trialConfig.vocabularySize;
  const parameters = initializeParameters(trialConfig, 1);
  // As the learner scales its loss: float16 would lose some of the gradients of so small a model.
  const scale = adapted ? 1024 : 1;
  const feeds: Record<string, Tensor> = {
    ...weightFeeds({
      config: trialConfig,
      parameters: precision === 'float16' ? narrowParameters(trialConfig, parameters) : parameters,
      adapter: adapted ? randomAdapter() : null,
    }),
    [trainingInputs.tokens]: int32(places.map(token), [1, length]),
    [trainingInputs.positions]: int32(
      places.map((place) => place % half),
      [1, length],
    ),
    [trainingInputs.columns]: int32(places, [length]),
    [trainingInputs.reach]: int32(
      places.map((place) => (place < half ? half : length) - 1),
      [1, length],
    ),
    [trainingInputs.sources]: int32(
      targets.map((place) => place - 1),
      [targets.length],
    ),
    [trainingInputs.targets]: int32(targets.map(token), [targets.length, 1]),
    [trainingInputs.sharpness]: float32([1], []),
    [trainingInputs.coefficients]: float32(
      targets.flatMap((place) => [scale * Math.sin(place), (scale * Math.cos(place)) / 4]),
      [targets.length, 2],
    ),
  };
  return Object.entries(feeds).map(([name, { type, dims, data }]) => ({
    name,
    type,
    dims,
    data: Array.from(data as Float32Array | Int32Array | Uint16Array),
  }));
}

/** Fresh ones have factors of 0, whose partners then have no gradient. */
function randomAdapter(): Adapter {
  const adapter = freshAdapter(trialConfig, trialAdapter, 1);
  const normal = normalStream(2);
  for (const factor of adapter.factors.values()) for (let i = 0; i < factor.length; i++) factor[i] = normal() / 8;
  return adapter;
}
