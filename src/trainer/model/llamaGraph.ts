import { Graph, type Tensor } from '../graph/graph.js';
import { gradients } from '../graph/gradients.js';
import { divideDim, multiplyDims } from '../graph/shape.js';
import { decoder, head, isSliding, modelInputs, segmentBias } from './llamaLayers.js';
import type { LlamaConfig } from './llamaConfig.js';
import type { AdapterConfig } from './lora.js';

/** Rows must be a multiple of this long. */
export const causalBlocks = 4;

/** Outputs by name; `inputs` of the graph are listed at `trainingInputs`. */
export interface LlamaGraph {
  readonly graph: Graph;
  readonly outputs: ReadonlyMap<string, Tensor>;
}

/**
 * Inputs beside the parameters and the rotary tables. Several sequences lie in a row, each with a segment number of its
 * own; padding is a segment that nobody asks about.
 *   tokens       int32 [rows, length], the length a multiple of `causalBlocks`
 *   positions    int32 [rows, length], from 0 in every sequence
 *   segments     int32 [rows, length]
 *   sources      int32 [targets]: flat index (row * length + column) of the token before each target
 *   targets      int32 [targets, 1]: the id whose log-probability is wanted
 *   sharpness    float32 []: 1 / temperature
 *   coefficients float32 [targets, 2]: of the log-probability and of the entropy (backward only)
 */
export const trainingInputs = {
  tokens: 'tokens',
  positions: 'positions',
  segments: 'segments',
  sources: 'sources',
  targets: 'targets',
  sharpness: 'sharpness',
  coefficients: 'coefficients',
} as const;

/** float32 [targets, 2]: log-probabilities and entropies in nats, of softmax(logits / temperature). */
export const scoresOutput = 'scores';
export const gradientOutput = (parameter: string): string => `gradient of ${parameter}`;

/** Log-probabilities and entropies of chosen tokens. Hidden states are gathered before the head. */
export function scoringGraph(config: LlamaConfig, adapter: AdapterConfig | null = null): LlamaGraph {
  const { graph, scores } = forward(config, adapter);
  return { graph, outputs: new Map([[scoresOutput, scores]]) };
}

/** The scores and the gradient of sum(coefficients * scores) with respect to everything that is trained. */
export function gradientGraph(config: LlamaConfig, adapter: AdapterConfig | null = null): LlamaGraph {
  const { graph, scores, trained } = forward(config, adapter);
  const coefficients = graph.input(trainingInputs.coefficients, scores.shape);
  const found = gradients(graph, scores, coefficients, [...trained.values()]);
  const outputs = new Map([[scoresOutput, scores]]);
  [...trained.keys()].forEach((name, index) => outputs.set(gradientOutput(name), found[index]));
  return { graph, outputs };
}

function forward(
  config: LlamaConfig,
  adapter: AdapterConfig | null,
): { graph: Graph; scores: Tensor; trained: ReadonlyMap<string, Tensor> } {
  const graph = new Graph();
  const { weights, trained } = modelInputs(graph, config, adapter);
  const length = multiplyDims([causalBlocks, 'block']);
  const shape = ['rows', length];
  const tokens = graph.input(trainingInputs.tokens, shape, 'int32');
  const positions = graph.input(trainingInputs.positions, shape, 'int32');
  const segments = graph.input(trainingInputs.segments, shape, 'int32');
  const sources = graph.input(trainingInputs.sources, ['targets'], 'int32');
  const targets = graph.input(trainingInputs.targets, ['targets', 1], 'int32');
  const sharpness = graph.input(trainingInputs.sharpness, []);

  const place = { segments, positions };
  const bias = segmentBias(graph, place, place);
  const window = config.slidingWindow?.tokens;
  const biasOf = (layer: number) => (isSliding(config, layer) ? segmentBias(graph, place, place, window) : bias);
  const hidden = decoder(graph, config, weights, tokens, {
    rows: 'rows',
    time: length,
    positions: graph.cast(positions, 'int64'),
    attend: (layer, queries, keys, values) => causalAttention(graph, queries, keys, values, biasOf(layer)),
  });
  // Scaling the states instead of the logits is the same and touches fewer numbers.
  const asked = graph.mul(graph.gather(hidden, sources), sharpness);
  return { graph, scores: graph.tokenScores(head(graph, config, weights, asked), targets), trained };
}

/**
 * Attention among the tokens of a row, none of which looks at a later column: computed for blocks of queries, each
 * without the keys after it, so that four blocks do 10 of 16 parts of the work.
 */
function causalAttention(graph: Graph, queries: Tensor, keys: Tensor, values: Tensor, bias: Tensor): Tensor {
  const time = queries.shape[3];
  const block = divideDim(time, causalBlocks);
  const parts = Array.from({ length: causalBlocks }, (_, index) => {
    const [start, end] = [multiplyDims([index, block]), multiplyDims([index + 1, block])];
    const seen = (tensor: Tensor) => graph.slice(tensor, 2, 0, end);
    const allowed = graph.slice(graph.slice(bias, 3, start, end), 4, 0, end);
    return graph.attend(graph.slice(queries, 3, start, end), seen(keys), seen(values), allowed);
  });
  return graph.concat(parts, 3);
}
