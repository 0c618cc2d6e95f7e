import { InferenceSession, sessionOptions, Tensor } from './onnxRuntime.js';
import { badInput } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';
import { emitModel } from '../graph/emit.js';
import type { Provider } from '../graph/provider.js';
import { precisionOf, type FrozenParameters } from './frozenParameters.js';
import type { KeyValueCache } from './generatorCache.js';
import { decodingGraph, decodingInputs, decodingOutputs } from './generatorGraph.js';
import type { LlamaConfig } from './llamaConfig.js';
import type { Adapter } from './lora.js';
import { weightFeeds } from './modelWeights.js';
import type { Precision } from './precision.js';
import type { ResidentFeeds } from './residentFeeds.js';

/** What masks a place in a row of scores: its weight is 0 after the softmax. */
export const masked = -1e9;

export interface DecoderInput {
  /** Rows of the cache that are computed, and the first one of them. */
  readonly rows: number;
  readonly firstRow?: number;
  /** New tokens of a row. */
  readonly time: number;
  /** [rows * time]. */
  readonly tokens: Int32Array;
  readonly positions: BigInt64Array;
  /** Flat indices of the tokens whose logits are wanted. */
  readonly picks: Int32Array;
  readonly cache: KeyValueCache;
  /** Of these rows, [rows, capacity]: 0 where the row's cache is filled, `masked` elsewhere. */
  readonly pastBias: Float32Array;
}

export interface DecoderOutput {
  /** [picks, vocabulary]. */
  readonly logits: Float32Array;
  /** Of each layer, [rows, keyValueHeads, time, headDim]. */
  readonly layers: readonly { readonly keys: Float32Array; readonly values: Float32Array }[];
}

export interface GeneratorSessionOptions {
  readonly device: Provider;
  readonly threads: number;
  /** On top of the parameters. */
  readonly adapter?: Adapter;
  /** The model's weights, where they lie on the device. */
  readonly resident?: ResidentFeeds | null;
}

/** The compiled decoder. Weights are fed at every run from where the learner keeps them, here or on the device. */
export class GeneratorSession {
  private readonly causalBiases = new Map<number, Tensor>();

  private constructor(
    private readonly config: LlamaConfig,
    private readonly session: InferenceSession,
    private readonly fixed: Readonly<Record<string, Tensor>>,
    private readonly resident: ResidentFeeds | null,
  ) {}

  static async create(
    config: LlamaConfig,
    parameters: FrozenParameters,
    options: GeneratorSessionOptions,
  ): Promise<GeneratorSession> {
    const { adapter = null, resident = null } = options;
    const fixed = resident?.feeds ?? weightFeeds({ config, parameters, adapter });
    return new GeneratorSession(config, await compile(config, precisionOf(parameters), options), fixed, resident);
  }

  async run(input: DecoderInput): Promise<DecoderOutput> {
    const { rows, firstRow = 0, time, cache } = input;
    const { keyValueHeads: kv, headDim: d, layers } = this.config;
    const feeds: Record<string, Tensor> = {
      ...this.fixed,
      [decodingInputs.tokens]: new Tensor('int32', input.tokens, [rows, time]),
      [decodingInputs.positions]: new Tensor('int64', input.positions, [rows, time]),
      [decodingInputs.picks]: new Tensor('int32', input.picks, [input.picks.length]),
      [decodingInputs.pastBias]: new Tensor('float32', input.pastBias, [rows, 1, 1, 1, cache.capacity]),
      [decodingInputs.causalBias]: this.causalBias(time),
    };
    if (this.config.slidingWindow !== undefined) {
      const places = Int32Array.from({ length: cache.capacity }, (_, place) => place);
      feeds[decodingInputs.pastPlaces] = new Tensor('int32', places, [cache.capacity]);
    }
    const filled = (buffer: Float32Array) =>
      buffer.subarray(firstRow * cache.rowSize, (firstRow + rows) * cache.rowSize);
    for (let layer = 0; layer < layers; layer++) {
      const [keys, values] = [filled(cache.keys[layer]!), filled(cache.values[layer]!)];
      feeds[decodingInputs.pastKeys(layer)] = new Tensor('float32', keys, [rows, kv, d, cache.capacity]);
      feeds[decodingInputs.pastValues(layer)] = new Tensor('float32', values, [rows, kv, cache.capacity, d]);
    }
    await this.resident?.current();
    const results = await this.session.run(feeds);
    return {
      logits: floats(results[decodingOutputs.logits]),
      layers: Array.from({ length: layers }, (_, layer) => ({
        keys: floats(results[decodingOutputs.keys(layer)]),
        values: floats(results[decodingOutputs.values(layer)]),
      })),
    };
  }

  dispose(): Promise<void> {
    return this.session.release();
  }

  private causalBias(time: number): Tensor {
    const known = this.causalBiases.get(time);
    if (known !== undefined) return known;
    const bias = Float32Array.from({ length: time * time }, (_, i) => (i % time > Math.floor(i / time) ? masked : 0));
    const tensor = new Tensor('float32', bias, [time, time]);
    this.causalBiases.set(time, tensor);
    return tensor;
  }
}

async function compile(
  config: LlamaConfig,
  precision: Precision,
  options: GeneratorSessionOptions,
): Promise<InferenceSession> {
  const { device, adapter } = options;
  try {
    const model = emitModel(decodingGraph(config, adapter?.config ?? null, device, precision), device);
    return await InferenceSession.create(model, sessionOptions(options.device, options.threads));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw badInput(say`Cannot generate on '${options.device}': ${reason}.`, 'Use --device cpu.', error);
  }
}

function floats(tensor: Tensor | undefined): Float32Array {
  if (!(tensor?.data instanceof Float32Array)) throw new Error('internal: the decoder gave no float32 output');
  return tensor.data;
}
