import { InferenceSession, sessionOptions, Tensor } from './onnxRuntime.js';
import { badInput } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';
import { emitModel } from '../graph/emit.js';
import type { Provider } from '../graph/provider.js';
import { precisionOf, type FrozenParameters } from './frozenParameters.js';
import type { KeyValueCache } from './generatorCache.js';
import { decodingGraph, decodingInputs, decodingOutputs, productFactors, type DecodingForm } from './generatorGraph.js';
import { keepsFactors } from './keptFactors.js';
import type { LlamaConfig } from './llamaConfig.js';
import type { Adapter } from './lora.js';
import { weightFeeds } from './modelWeights.js';
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

/**
 * The compiled decoder. Weights are fed at every run from where the learner keeps them, here or on the device, but for those that
 * `keepsFactors`: these are given when it is compiled, and after `renew` anew.
 */
export class GeneratorSession {
  /**
   * The fewest rows whose numbers do not depend on how many there are. By a factor that is fed, a single row is multiplied with another
   * kernel, whose last bits differ from those of two rows and more, which all agree; by kept ones with the same, as was tried on x64.
   */
  readonly leastRows: 1 | 2;
  /** Whether another shape costs nothing; devices compile programs for each. */
  readonly takesAnyShape: boolean;
  private readonly causalBiases = new Map<number, Tensor>();
  private session: InferenceSession | null = null;
  private isStale = false;
  private readonly resident: ResidentFeeds | null;
  /** Whether what it was compiled with may change. */
  private readonly canBeStale: boolean;

  private constructor(
    private readonly config: LlamaConfig,
    private readonly compile: () => Promise<InferenceSession>,
    private readonly fed: Readonly<Record<string, Tensor>>,
    { device, adapter, resident = null }: GeneratorSessionOptions,
    keeps: boolean,
  ) {
    this.resident = resident;
    this.leastRows = keeps && !adapter && process.arch === 'x64' ? 1 : 2;
    this.takesAnyShape = device === 'cpu';
    this.canBeStale = keeps && !adapter;
  }

  static async create(
    config: LlamaConfig,
    parameters: FrozenParameters,
    options: GeneratorSessionOptions,
  ): Promise<GeneratorSession> {
    const { adapter = null, resident = null, device } = options;
    const precision = precisionOf(parameters);
    const keeps = resident === null && keepsFactors(config, precision, device);
    const factors = keeps ? productFactors(config) : new Map<string, string>();
    const given = new Map([...factors].map(([input, name]) => [input, parameters.get(name) as Float32Array]));
    const feeds = resident?.feeds ?? weightFeeds({ config, parameters, adapter });
    const fed = keeps ? Object.fromEntries(Object.entries(feeds).filter(([name]) => !given.has(name))) : feeds;
    const form = { provider: device, precision, keepsFactors: keeps };
    const compileNow = () => compile(config, form, options, given);
    const created = new GeneratorSession(config, compileNow, fed, options, keeps);
    created.session = await compileNow();
    return created;
  }

  /** The weights have changed: the next run sees them all. */
  renew(): void {
    this.isStale = this.canBeStale;
  }

  async run(input: DecoderInput): Promise<DecoderOutput> {
    const { rows, firstRow = 0, time, cache } = input;
    const { keyValueHeads: kv, headDim: d, layers } = this.config;
    const feeds: Record<string, Tensor> = {
      ...this.fed,
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
      feeds[decodingInputs.pastKeys(layer)] = new Tensor('float32', keys, [rows, kv, cache.capacity, d]);
      feeds[decodingInputs.pastValues(layer)] = new Tensor('float32', values, [rows, kv, cache.capacity, d]);
    }
    await this.resident?.current();
    if (this.isStale) {
      await this.dispose();
      this.isStale = false;
    }
    this.session ??= await this.compile();
    const results = await this.session.run(feeds);
    return {
      logits: floats(results[decodingOutputs.logits]),
      layers: Array.from({ length: layers }, (_, layer) => ({
        keys: floats(results[decodingOutputs.keys(layer)]),
        values: floats(results[decodingOutputs.values(layer)]),
      })),
    };
  }

  async dispose(): Promise<void> {
    const { session } = this;
    this.session = null;
    await session?.release();
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
  form: DecodingForm,
  { device, adapter, threads }: GeneratorSessionOptions,
  given: ReadonlyMap<string, Float32Array>,
): Promise<InferenceSession> {
  try {
    const graph = decodingGraph(config, adapter?.config ?? null, form);
    const model = emitModel(graph, device, new Set(given.keys()));
    const externalData = [...given].map(([path, { buffer, byteOffset, byteLength }]) => ({
      path,
      data: new Uint8Array(buffer, byteOffset, byteLength),
    }));
    return await InferenceSession.create(model, { ...sessionOptions(device, threads), externalData });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw badInput(say`Cannot generate on '${device}': ${reason}.`, 'Use --device cpu.', error);
  }
}

function floats(tensor: Tensor | undefined): Float32Array {
  if (!(tensor?.data instanceof Float32Array)) throw new Error('internal: the decoder gave no float32 output');
  return tensor.data;
}
