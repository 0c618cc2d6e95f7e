import { InferenceSession, sessionOptions, Tensor } from './onnxRuntime.js';
import { badInput, infrastructure } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';
import { emitModel } from '../graph/emit.js';
import type { Tensor as GraphTensor } from '../graph/graph.js';
import type { Provider } from '../graph/provider.js';
import { precisionOf } from './frozenParameters.js';
import { trainingGraph, trainingInputs, trainingOutputs, type TrainingGraphKind } from './llamaGraph.js';
import { elementCount, parameterShapes, type LlamaConfig } from './llamaConfig.js';
import { trainedNames, weightFeeds, type ModelWeights } from './modelWeights.js';
import type { Precision } from './precision.js';
import type { PrefixMemory } from './prefixMemory.js';
import type { MicroBatch } from './packing.js';
import type { ResidentFeeds } from './residentFeeds.js';

/**
 * From so many weights on a graph gives back what it took for a run: each of the several that a step needs would otherwise keep
 * its own greatest need beside the others'.
 */
const fewWeights = 2 ** 27;

const weightCount = (config: LlamaConfig): number =>
  [...parameterShapes(config).values()].reduce((sum, shape) => sum + elementCount(shape), 0);

export interface SessionOptions {
  readonly device: Provider;
  readonly threads: number;
  /** The model's weights, where they lie on the device. */
  readonly resident: ResidentFeeds | null;
}

/** Keys and values of a micro-batch's tokens in one layer, [rows * length, keyValueHeads * headDim]. */
interface LayerMemory {
  readonly keys: Float32Array;
  readonly values: Float32Array;
}

/**
 * One number or coefficient for each: log-probability and entropy of every target [targets, 2], and the value of the state
 * before it [targets]; empty where there is none.
 */
export interface FoundTargets {
  readonly scores: Float32Array;
  readonly stateValues: Float32Array;
}

/**
 * The compiled graphs of one model: each is compiled when it is first wanted. Weights are fed at every run, from here or from where
 * they lie on the device.
 */
export class LearnerSession {
  private readonly graphs = new Map<string, Promise<InferenceSession>>();
  private readonly fixed: Record<string, Tensor>;
  private readonly precision: Precision;

  constructor(
    private readonly model: ModelWeights,
    private readonly options: SessionOptions,
  ) {
    this.fixed = options.resident?.feeds ?? weightFeeds(model);
    this.precision = precisionOf(model.parameters);
  }

  /** What was found of every target, or keys and values, or both. */
  async forward(
    batch: MicroBatch,
    temperature: number,
    past: PrefixMemory,
    wanted: { readonly scores: boolean; readonly memory: boolean },
  ): Promise<{ found: FoundTargets; memory: LayerMemory[] }> {
    const kind = this.kind({ ...wanted, past: past.length > 0, gradient: false, recomputed: false });
    const results = await this.run(kind, this.feeds(kind, batch, temperature, past));
    return {
      found: foundTargets(kind, results),
      memory: Array.from({ length: wanted.memory ? past.layers : 0 }, (_, layer) => ({
        keys: floats(results[trainingOutputs.keys(layer)]),
        values: floats(results[trainingOutputs.values(layer)]),
      })),
    };
  }

  /**
   * What was found, and the gradient of sum(coefficients * found) handed to `receive` for everything that is trained. What the
   * micro-batch adds to the gradients of the keys and values before it goes to `past`; where others `follow` it, those that
   * they left after the path count too.
   */
  async differentiate(
    batch: MicroBatch,
    temperature: number,
    past: PrefixMemory,
    coefficients: FoundTargets,
    follow: boolean,
    receive: (name: string, gradient: Float32Array) => void,
  ): Promise<FoundTargets> {
    const kind = this.kind({
      past: past.length > 0,
      scores: batch.targets.length > 0,
      memory: follow,
      gradient: true,
      recomputed: batch.recomputed,
    });
    const feeds = this.feeds(kind, batch, temperature, past);
    if (kind.scores) {
      const count = batch.targets.length;
      feeds[trainingInputs.coefficients] = new Tensor('float32', coefficients.scores, [count, 2]);
      feeds[trainingInputs.stateValueCoefficients] = new Tensor('float32', coefficients.stateValues, [count, 1]);
    }
    const results = await this.run(kind, feeds);
    for (const name of trainedNames(this.model)) {
      const gradient = results[trainingOutputs.gradient(name)];
      if (gradient) receive(name, floats(gradient));
    }
    for (let layer = 0; layer < past.layers; layer++) {
      const keys = results[trainingOutputs.gradient(trainingInputs.pastKeys(layer))];
      const values = results[trainingOutputs.gradient(trainingInputs.pastValues(layer))];
      if (keys) past.addGradients(layer, 'keys', floats(keys));
      if (values) past.addGradients(layer, 'values', floats(values));
    }
    return foundTargets(kind, results);
  }

  async dispose(): Promise<void> {
    // One that failed to compile has nothing to release.
    for (const session of this.graphs.values()) await (await session.catch(() => null))?.release();
    this.graphs.clear();
  }

  private kind(kind: Omit<TrainingGraphKind, 'stateValues'>): TrainingGraphKind {
    return { ...kind, stateValues: kind.scores && this.model.valueHead !== undefined };
  }

  private async run(kind: TrainingGraphKind, feeds: Record<string, Tensor>): Promise<InferenceSession.ReturnType> {
    const { past, scores, memory, gradient, recomputed } = kind;
    const key = [past, scores, memory, gradient, recomputed].join();
    const { config, adapter } = this.model;
    const known = this.graphs.get(key);
    const keepsMemory = weightCount(config) < fewWeights;
    const graph = () => trainingGraph(config, adapter?.config ?? null, kind, this.precision);
    const session = known ?? compile(graph(), this.options, keepsMemory);
    if (!known) this.graphs.set(key, session);
    const compiled = await session;
    await this.options.resident?.current();
    return run(compiled, feeds);
  }

  /** Feeds for the inputs of a kind; the graph is not asked for those that it has no use for. */
  private feeds(
    kind: TrainingGraphKind,
    batch: MicroBatch,
    temperature: number,
    past: PrefixMemory,
  ): Record<string, Tensor> {
    const { rows, length } = batch;
    const { config } = this.model;
    const feeds: Record<string, Tensor> = {
      ...this.fixed,
      [trainingInputs.tokens]: new Tensor('int32', batch.tokens, [rows, length]),
      [trainingInputs.positions]: new Tensor('int32', batch.positions, [rows, length]),
      [trainingInputs.reach]: new Tensor('int32', batch.reach, [rows, length]),
      [trainingInputs.columns]: counting(length),
    };
    const width = config.keyValueHeads * config.headDim;
    const perLayer = (name: (layer: number) => string, values: (layer: number) => Float32Array, tokens: number) => {
      for (let layer = 0; layer < past.layers; layer++) {
        feeds[name(layer)] = new Tensor('float32', values(layer), [tokens, width]);
      }
    };
    if (kind.past) {
      perLayer(trainingInputs.pastKeys, (layer) => past.past(layer).keys, past.length);
      perLayer(trainingInputs.pastValues, (layer) => past.past(layer).values, past.length);
      if (config.slidingWindow) feeds[trainingInputs.pastPlaces] = counting(past.length);
    }
    if (kind.memory && kind.gradient) {
      const size = rows * length;
      perLayer(trainingInputs.keyGradients, (layer) => past.gradientsAfter(layer, size).keys, size);
      perLayer(trainingInputs.valueGradients, (layer) => past.gradientsAfter(layer, size).values, size);
    }
    if (kind.scores) {
      const count = batch.targets.length;
      feeds[trainingInputs.sources] = new Tensor('int32', batch.sources, [count]);
      feeds[trainingInputs.targets] = new Tensor('int32', batch.targets, [count, 1]);
      feeds[trainingInputs.sharpness] = new Tensor('float32', Float32Array.of(1 / temperature), []);
    }
    return feeds;
  }
}

function foundTargets(kind: TrainingGraphKind, results: InferenceSession.ReturnType): FoundTargets {
  return {
    scores: kind.scores ? floats(results[trainingOutputs.scores]) : new Float32Array(),
    stateValues: kind.stateValues ? floats(results[trainingOutputs.stateValues]) : new Float32Array(),
  };
}

/** 0, 1, 2, ... */
const counting = (length: number): Tensor =>
  new Tensor(
    'int32',
    Int32Array.from({ length }, (_, index) => index),
    [length],
  );

async function compile(
  outputs: ReadonlyMap<string, GraphTensor>,
  { device, threads }: SessionOptions,
  keepsMemory: boolean,
): Promise<InferenceSession> {
  const model = emitModel(outputs, device);
  try {
    return await InferenceSession.create(model, sessionOptions(device, threads, keepsMemory));
  } catch (error) {
    throw badInput(say`Cannot train on '${device}': ${messageOf(error)}.`, 'Use --device cpu.', error);
  }
}

/** A run can fail for want of memory, or because a driver was lost: the machine's fault, not the policy's. */
async function run(session: InferenceSession, feeds: Record<string, Tensor>): Promise<InferenceSession.ReturnType> {
  try {
    return await session.run(Object.fromEntries(session.inputNames.map((name) => [name, feeds[name]])));
  } catch (error) {
    const remedy = say`Free memory or choose a smaller model, or try --device cpu.`;
    throw infrastructure(say`The learner's computation failed: ${messageOf(error)}.`, remedy, error);
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function floats(tensor: Tensor): Float32Array {
  if (!(tensor.data instanceof Float32Array)) throw new Error(`internal: float32 was expected, not ${tensor.type}.`);
  return tensor.data;
}
