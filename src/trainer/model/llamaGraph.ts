import { Graph, type Tensor } from '../graph/graph.js';
import { gradientsOfAll, type Seed } from '../graph/gradients.js';
import { addDims, divideDim, multiplyDims } from '../graph/shape.js';
import { decoder, head, isSliding, modelInputs, productType, withinWindow } from './llamaLayers.js';
import type { LlamaConfig } from './llamaConfig.js';
import type { AdapterConfig } from './lora.js';
import type { Precision } from './precision.js';
import { valueHeadParameter, valueHeadShapes } from './valueHead.js';

/** Rows must be a multiple of this long. */
export const causalBlocks = 4;

/** Which of the training graphs: what it is given and what it computes. */
export interface TrainingGraphKind {
  /** The tokens follow others, whose keys and values are given. */
  readonly past: boolean;
  /** Log-probabilities and entropies of the targets are computed. */
  readonly scores: boolean;
  /** The values of the states before the targets are computed too, by a critic (valueHead.ts). */
  readonly stateValues: boolean;
  /** Other tokens follow these: forwards their keys and values are computed, backwards their gradients are given. */
  readonly memory: boolean;
  /** Gradients are computed: of everything that is trained, and of the keys and values of the past. */
  readonly gradient: boolean;
  /** Of what the gradients are computed from, only each layer's input is kept, and the layer computed again. */
  readonly recomputed: boolean;
}

/**
 * Inputs beside the parameters and the rotary tables. Trees of tokens lie side by side in a row: a node, then its children one
 * after the other. All rows follow the same past.
 *   tokens       int32 [rows, length], the length a multiple of `causalBlocks`
 *   positions    int32 [rows, length], the place in a sequence
 *   columns      int32 [length]: 0, 1, 2, ...
 *   reach        int32 [rows, length]: the last column whose token sees this one
 *   past places  int32 [past]: 0, 1, 2, ...; only where a layer sees a sliding window
 *   past keys, past values                  of every layer, float32 [past, keyValueHeads * headDim]
 *   gradients of keys, gradients of values  of every layer, float32 [rows * length, keyValueHeads * headDim]
 *   sources      int32 [targets]: flat index (row * length + column) of the token before each target
 *   targets      int32 [targets, 1]: the id whose log-probability is wanted
 *   sharpness    float32 []: 1 / temperature
 *   coefficients float32 [targets, 2]: of the log-probability and of the entropy
 *   coefficients of state values  float32 [targets, 1]
 */
export const trainingInputs = {
  tokens: 'tokens',
  positions: 'positions',
  columns: 'columns',
  reach: 'reach',
  pastPlaces: 'past places',
  pastKeys: (layer: number) => `past keys ${layer}`,
  pastValues: (layer: number) => `past values ${layer}`,
  keyGradients: (layer: number) => `gradients of keys ${layer}`,
  valueGradients: (layer: number) => `gradients of values ${layer}`,
  sources: 'sources',
  targets: 'targets',
  sharpness: 'sharpness',
  coefficients: 'coefficients',
  stateValueCoefficients: 'coefficients of state values',
} as const;

/**
 * `scores` float32 [targets, 2]: log-probabilities and entropies in nats, of softmax(logits / temperature).
 * `state values` float32 [targets, 1].
 */
export const trainingOutputs = {
  scores: 'scores',
  stateValues: 'state values',
  keys: (layer: number) => `keys ${layer}`,
  values: (layer: number) => `values ${layer}`,
  gradient: (input: string) => `gradient of ${input}`,
} as const;

/**
 * A training graph's outputs by name. The gradients are those of sum(coefficients * scores) + sum(gradients of keys * keys)
 * + sum(gradients of values * values), and of the state values times theirs, of whichever the kind has; an input that none of them depends on has no output.
 */
export function trainingGraph(
  config: LlamaConfig,
  adapter: AdapterConfig | null,
  kind: TrainingGraphKind,
  precision: Precision = 'float32',
): ReadonlyMap<string, Tensor> {
  const graph = new Graph();
  const { scores, stateValues, keys, values, past, trained, layerInputs } = forward(
    graph,
    config,
    adapter,
    kind,
    precision,
  );
  const outputs = new Map<string, Tensor>();
  if (kind.scores) outputs.set(trainingOutputs.scores, scores);
  if (stateValues) outputs.set(trainingOutputs.stateValues, stateValues);
  if (!kind.gradient) {
    if (kind.memory) {
      keys.forEach((tensor, layer) => outputs.set(trainingOutputs.keys(layer), tensor));
      values.forEach((tensor, layer) => outputs.set(trainingOutputs.values(layer), tensor));
    }
    return outputs;
  }
  const seed = (output: Tensor, name: string): Seed => ({ output, gradient: graph.input(name, output.shape) });
  const seeds = [
    ...(kind.scores ? [seed(scores, trainingInputs.coefficients)] : []),
    ...(stateValues ? [seed(stateValues, trainingInputs.stateValueCoefficients)] : []),
    ...(kind.memory ? keys.map((tensor, layer) => seed(tensor, trainingInputs.keyGradients(layer))) : []),
    ...(kind.memory ? values.map((tensor, layer) => seed(tensor, trainingInputs.valueGradients(layer))) : []),
  ];
  const inputs = [...trained, ...past];
  gradientsOfAll(
    graph,
    seeds,
    inputs.map(([, input]) => input),
    kind.recomputed ? layerInputs : [],
  ).forEach((gradient, index) => {
    if (gradient) outputs.set(trainingOutputs.gradient(inputs[index][0]), gradient);
  });
  return outputs;
}

interface Forward {
  readonly scores: Tensor;
  readonly stateValues: Tensor | null;
  /** Of every layer, [rows * length, keyValueHeads * headDim]. */
  readonly keys: readonly Tensor[];
  readonly values: readonly Tensor[];
  /** The keys and values of the past, by their inputs' names. */
  readonly past: ReadonlyMap<string, Tensor>;
  readonly trained: ReadonlyMap<string, Tensor>;
  readonly layerInputs: readonly Tensor[];
}

function forward(
  graph: Graph,
  config: LlamaConfig,
  adapter: AdapterConfig | null,
  { past: hasPast, stateValues: hasCritic }: TrainingGraphKind,
  precision: Precision,
): Forward {
  const { weights, trained: ofPolicy } = modelInputs(graph, config, adapter, precision);
  const narrow = (tensor: Tensor) => graph.cast(tensor, productType(weights));
  const length = multiplyDims([causalBlocks, 'block']);
  const shape = ['rows', length];
  const tokens = graph.input(trainingInputs.tokens, shape, 'int32');
  const positions = graph.input(trainingInputs.positions, shape, 'int32');
  const sources = graph.input(trainingInputs.sources, ['targets'], 'int32');
  const targets = graph.input(trainingInputs.targets, ['targets', 1], 'int32');
  const sharpness = graph.input(trainingInputs.sharpness, []);

  const past = new Map<string, Tensor>();
  const keys: Tensor[] = [];
  const values: Tensor[] = [];
  const width = config.keyValueHeads * config.headDim;
  const flat = (tensor: Tensor) =>
    graph.reshape(graph.transpose(tensor, [0, 2, 1, 3]), [multiplyDims(['rows', length]), width]);
  const afterPast = (name: string, now: Tensor) => {
    if (!hasPast) return now;
    const earlier = graph.input(name, ['past', width]);
    past.set(name, earlier);
    const { keyValueHeads: kv, headDim: d } = config;
    const byHead = graph.transpose(graph.reshape(narrow(earlier), [1, 'past', kv, d]), [0, 2, 1, 3]);
    return graph.concat([graph.expand(byHead, ['rows', kv, 'past', d]), now], 2);
  };
  const { hidden, layerInputs } = decoder(graph, config, weights, tokens, {
    rows: 'rows',
    time: length,
    positions: graph.cast(positions, 'int64'),
    attend: (layer, queries, nowKeys, nowValues) => {
      keys.push(flat(nowKeys));
      values.push(flat(nowValues));
      const window = isSliding(config, layer) ? config.slidingWindow?.tokens : undefined;
      return causalAttention(
        graph,
        narrow(queries),
        afterPast(trainingInputs.pastKeys(layer), narrow(nowKeys)),
        afterPast(trainingInputs.pastValues(layer), narrow(nowValues)),
        treeBias(graph, positions, hasPast, window),
      );
    },
  });
  // Scaling the states instead of the logits is the same and touches fewer numbers.
  const states = graph.gather(hidden, sources);
  const scores = graph.tokenScores(head(graph, config, weights, graph.mul(states, sharpness)), targets);
  if (!hasCritic) return { scores, stateValues: null, keys, values, past, trained: ofPolicy, layerInputs };
  const critic = new Map([...valueHeadShapes(config)].map(([name, shape]) => [name, graph.input(name, shape)]));
  const stateValues = graph.at('value head', () => {
    const [weight, bias] = [critic.get(valueHeadParameter.weight)!, critic.get(valueHeadParameter.bias)!];
    return graph.add(graph.matmul(states, weight, { transposeB: true }), bias);
  });
  return { scores, stateValues, keys, values, past, trained: new Map([...ofPolicy, ...critic]), layerInputs };
}

/**
 * What is added to a row's attention scores, [rows, 1, 1, length, past + length]: 0 where a query may look and very negative
 * elsewhere. It sees all of the past, and of its row the tokens up to itself whose trees it is in; where there is a `window`,
 * only that many places of its sequence.
 */
function treeBias(graph: Graph, positions: Tensor, hasPast: boolean, window?: number): Tensor {
  const [rows, length] = positions.shape;
  const down = (tensor: Tensor) => graph.reshape(tensor, [tensor.shape.length > 1 ? rows : 1, 1, 1, length, 1]);
  const across = (tensor: Tensor) => graph.reshape(tensor, [tensor.shape.length > 1 ? rows : 1, 1, 1, 1, length]);
  const columns = graph.input(trainingInputs.columns, [length], 'int32');
  const reach = graph.input(trainingInputs.reach, [rows, length], 'int32');
  const notLater = graph.greaterOrEqual(down(columns), across(columns));
  const inTree = graph.and(notLater, graph.greaterOrEqual(across(reach), down(columns)));
  const near = (places: Tensor) => withinWindow(graph, down(positions), places, window!);
  const seen = window === undefined ? inTree : graph.and(inTree, near(across(positions)));
  const [open, closed] = [graph.scalar(0), graph.scalar(-1e9)];
  const bias = graph.where(seen, open, closed);
  if (!hasPast) return bias;
  if (window === undefined) return graph.concat([graph.expand(open, [rows, 1, 1, length, 'past']), bias], 4);
  const pastPlaces = graph.reshape(graph.input(trainingInputs.pastPlaces, ['past'], 'int32'), [1, 1, 1, 1, 'past']);
  return graph.concat([graph.where(near(pastPlaces), open, closed), bias], 4);
}

/**
 * Attention among the tokens of a row and to what lies before it, where none looks at a later column: computed for blocks of
 * queries, each without the keys after it, so that four blocks do 10 of 16 parts of the row's work.
 */
function causalAttention(graph: Graph, queries: Tensor, keys: Tensor, values: Tensor, bias: Tensor): Tensor {
  const time = queries.shape[3];
  const past = addDims(keys.shape[2], time, -1);
  const block = divideDim(time, causalBlocks);
  const parts = Array.from({ length: causalBlocks }, (_, index) => {
    const [start, end] = [multiplyDims([index, block]), multiplyDims([index + 1, block])];
    const seen = addDims(past, end);
    const allowed = graph.slice(graph.slice(bias, 3, start, end), 4, 0, seen);
    return graph.attend(
      graph.slice(queries, 3, start, end),
      graph.slice(keys, 2, 0, seen),
      graph.slice(values, 2, 0, seen),
      allowed,
    );
  });
  return graph.concat(parts, 3);
}
