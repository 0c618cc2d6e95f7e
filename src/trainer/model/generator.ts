import { availableParallelism } from 'node:os';
import { cancelled, infrastructure, WhetstoneError } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';
import type { FrozenParameters } from './frozenParameters.js';
import { type Generation, GeneratorBatch } from './generatorBatch.js';
import { type CachedSequence, chunkTokens, SequenceStore } from './generatorSequences.js';
import { GeneratorSession, masked } from './generatorSession.js';
import type { Provider } from '../graph/provider.js';
import type { LlamaConfig } from './llamaConfig.js';
import type { Adapter } from './lora.js';
import type { GenerationRequest, GenerationResult, Generator } from './policy.js';
import type { ResidentFeeds } from './residentFeeds.js';
import { onlyAllowed, sampleToken, uniformStream } from './sampling.js';

export interface GeneratorOptions {
  readonly config: LlamaConfig;
  /** By Hugging Face's names; what the learner changes in them counts from `invalidate` on. */
  readonly parameters: FrozenParameters;
  /** On top of the parameters, where there is one. */
  readonly adapter?: Adapter;
  /** Both of them as the learner keeps them on the device; outlives the generator. */
  readonly resident?: ResidentFeeds | null;
  readonly device: Provider;
  readonly threads?: number;
  /** Requests that are decoded side by side; more wait. */
  readonly slots: number;
  /** Longest sequence, prompt and answer together; never more than the model's own limit. */
  readonly maxContext: number;
  /** One thread and one batch shape, so that the CPU gives the same bits every time. */
  readonly deterministic: boolean;
}

/** Memory of the sessions that wait for their next turn. */
const idleBytes = 2 ** 31;

/** Short prompts are computed in shapes of multiples of this many tokens, so that there are few shapes. */
const timeStep = 16;

export async function createGenerator(options: GeneratorOptions): Promise<Generator> {
  const threads = options.deterministic ? 1 : (options.threads ?? availableParallelism());
  const session = await GeneratorSession.create(options.config, options.parameters, { ...options, threads });
  return new BatchGenerator(options, session);
}

interface Waiting {
  readonly request: GenerationRequest;
  readonly resolve: (result: GenerationResult) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Decodes the pending requests as one batch, which they join and leave between any two tokens. A request's own random
 * numbers and the rows' independence make its tokens the same whoever its neighbours are.
 */
class BatchGenerator implements Generator {
  readonly maxContext: number;
  private readonly store: SequenceStore;
  private readonly batch: GeneratorBatch;
  private waiting: Waiting[] = [];
  private readonly running = new Map<Generation, Waiting>();
  private active = false;
  private disposed = false;

  constructor(
    private readonly options: GeneratorOptions,
    private readonly session: GeneratorSession,
  ) {
    this.maxContext = Math.min(options.maxContext, options.config.maxPositions);
    this.store = new SequenceStore(options.config, idleBytes);
    this.batch = new GeneratorBatch(options.config, session, options.slots, options.deterministic);
  }

  generate(request: GenerationRequest): Promise<GenerationResult> {
    if (this.disposed) return Promise.reject(cancelled());
    const { vocabularySize } = this.options.config;
    if (request.tokenIds.length === 0 || request.tokenIds.some((id) => id < 0 || id >= vocabularySize))
      return Promise.reject(new Error('internal: a prompt must hold tokens, all of the vocabulary'));
    return new Promise((resolve, reject) => {
      this.waiting.push({ request, resolve, reject });
      if (!this.active) void this.work();
    });
  }

  release(sessionId: string): void {
    this.store.release(sessionId);
  }

  invalidate(): void {
    this.store.clear();
    this.session.renew();
  }

  async dispose(): Promise<void> {
    this.disposed = true;
    while (this.active) await new Promise((resolve) => setImmediate(resolve));
    await this.session.dispose();
  }

  /** Runs while there are requests. Every run of the model lets the event loop turn before it starts. */
  private async work(): Promise<void> {
    this.active = true;
    try {
      // Requests that are made in one go start as one batch.
      await new Promise((resolve) => setImmediate(resolve));
      while (this.waiting.length > 0 || this.running.size > 0) {
        this.dropCancelled();
        while (this.waiting.length > 0 && this.running.size < this.options.slots) {
          await this.admit(this.waiting.shift()!);
          // Prompts take long: who is cancelled meanwhile is not computed first.
          this.dropCancelled();
        }
        if (this.running.size > 0) await this.decode();
      }
    } catch (error) {
      this.failAll(error);
    } finally {
      this.active = false;
    }
  }

  /** Computes what the cache lacks of a prompt and samples the first token. */
  private async admit(waiting: Waiting): Promise<void> {
    const { request } = waiting;
    const { tokenIds } = request;
    if (Math.min(request.maxNewTokens, this.maxContext - tokenIds.length) <= 0) {
      waiting.resolve(resultOf({ tokenIds: [], logprobs: [], entropies: [] }, 'length'));
      return;
    }
    if (this.store.isBusy(request.sessionId)) {
      waiting.reject(new Error(`internal: session '${request.sessionId}' has a request already`));
      return;
    }
    const sequence = this.store.open(request.sessionId, tokenIds);
    const uniform = uniformStream(request.seed);
    const cursor = request.constraint?.() ?? null;
    const generation: Generation = { request, sequence, uniform, cursor, tokenIds: [], logprobs: [], entropies: [] };
    this.running.set(generation, waiting);
    let logits: Float32Array | null = null;
    while (sequence.tokens.length < tokenIds.length) {
      logits = await this.computePiece(sequence, tokenIds);
      if (this.isCancelled(request)) return;
    }
    if (logits === null) throw new Error('internal: a prompt left nothing to compute');
    if (this.sample(generation, logits)) this.batch.add(generation);
  }

  /**
   * Computes the next `chunkTokens` of a prompt (from its start on, up to the next multiple, so that the pieces of equal
   * prompts are equal); returns the logits of the last one.
   */
  private async computePiece(sequence: CachedSequence, tokenIds: Int32Array): Promise<Float32Array> {
    const start = sequence.tokens.length;
    const fromStart = sequence.asPrompt === start;
    const end = Math.min(tokenIds.length, start + chunkTokens - (fromStart ? start % chunkTokens : 0));
    const count = end - start;
    const time = Math.ceil(count / timeStep) * timeStep;
    const tokens = new Int32Array(time);
    tokens.set(tokenIds.subarray(start, end));
    sequence.reserve(end);
    const { cache } = sequence;
    const { logits, layers } = await this.session.run({
      rows: 1,
      time,
      tokens,
      // Padding repeats the last position: a position past the model's limit would be refused.
      positions: BigInt64Array.from({ length: time }, (_, i) => BigInt(Math.min(start + i, end - 1))),
      picks: Int32Array.of(count - 1),
      cache,
      pastBias: new Float32Array(cache.capacity).fill(masked, start),
    });
    layers.forEach((layer, index) => cache.write(0, start, index, layer, 0, time, count));
    for (let i = start; i < end; i++) sequence.tokens.push(tokenIds[i]!);
    if (fromStart) sequence.asPrompt = end;
    return logits;
  }

  private async decode(): Promise<void> {
    for (const { generation, logits } of await this.batch.step())
      if (!this.sample(generation, logits)) this.batch.remove(generation);
  }

  /** Samples a token; returns whether the request goes on. */
  private sample(generation: Generation, logits: Float32Array): boolean {
    const { request, tokenIds, cursor } = generation;
    const possible = cursor === null ? logits : onlyAllowed(logits, cursor.allowed());
    const { id, logprob, entropy } = sampleToken(possible, request, generation.uniform());
    cursor?.push(id);
    tokenIds.push(id);
    generation.logprobs.push(logprob);
    generation.entropies.push(entropy);
    const stopped = request.stopTokenIds.includes(id) || request.stops?.(tokenIds) === true;
    const room = Math.min(request.maxNewTokens, this.maxContext - request.tokenIds.length);
    if (!stopped && tokenIds.length < room) return true;
    const waiting = this.running.get(generation);
    this.leave(generation);
    waiting?.resolve(resultOf(generation, stopped ? 'stop' : 'length'));
    return false;
  }

  private leave(generation: Generation): void {
    this.running.delete(generation);
    generation.sequence.busy = false;
  }

  private isCancelled(request: GenerationRequest): boolean {
    return this.disposed || request.signal?.aborted === true;
  }

  private dropCancelled(): void {
    for (const waiting of this.waiting) if (this.isCancelled(waiting.request)) waiting.reject(cancelled());
    this.waiting = this.waiting.filter(({ request }) => !this.isCancelled(request));
    for (const [generation, waiting] of [...this.running]) {
      if (!this.isCancelled(generation.request)) continue;
      this.batch.remove(generation);
      this.leave(generation);
      waiting.reject(cancelled());
    }
  }

  private failAll(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    const failure =
      error instanceof WhetstoneError || reason.startsWith('internal:')
        ? (error as Error)
        : infrastructure(say`Generation failed: ${reason}.`, 'Try --device cpu, or a smaller model.', error);
    for (const { reject } of [...this.waiting, ...this.running.values()]) reject(failure);
    for (const generation of this.running.keys()) generation.sequence.busy = false;
    this.batch.clear();
    this.running.clear();
    this.waiting = [];
    this.store.clear();
  }
}

function resultOf(
  generation: Pick<Generation, 'tokenIds' | 'logprobs' | 'entropies'>,
  finishReason: 'stop' | 'length',
): GenerationResult {
  return {
    tokenIds: Int32Array.from(generation.tokenIds),
    logprobs: Float32Array.from(generation.logprobs),
    entropies: Float32Array.from(generation.entropies),
    finishReason,
  };
}
