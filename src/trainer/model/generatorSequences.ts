import { KeyValueCache } from './generatorCache.js';
import type { LlamaConfig } from './llamaConfig.js';

/** Prompts are computed in pieces that start at multiples of this many tokens. */
export const chunkTokens = 64;

const firstCapacity = 128;

/**
 * The tokens of a session that have been computed, with their keys and values; of a request that is being decoded, those of the
 * sampled tokens are in the batch until it leaves.
 */
export class CachedSequence {
  tokens: number[] = [];
  /**
   * Tokens from the start that were computed as a prompt, in pieces that depend on nothing but the prompt. Only these
   * are given to other sessions, so that a session's numbers do not depend on which others there are.
   */
  asPrompt = 0;
  busy = false;
  readonly cache: KeyValueCache;

  constructor(config: LlamaConfig) {
    this.cache = new KeyValueCache(config, 1, firstCapacity);
  }

  /** Makes room for `length` tokens. */
  reserve(length: number): void {
    let { capacity } = this.cache;
    while (capacity < length) capacity *= 2;
    this.cache.resize(capacity);
  }

  /** Takes over the keys and values of its tokens from `start` on, which were computed in a row of another cache. */
  keep(source: KeyValueCache, row: number, start: number): void {
    this.reserve(this.tokens.length);
    this.cache.copyRow(0, source, row, start, this.tokens.length);
  }

  /** Forgets what follows the first `length` tokens. */
  truncate(length: number): void {
    this.tokens.length = Math.min(this.tokens.length, length);
    this.asPrompt = Math.min(this.asPrompt, length);
  }

  /** Takes over the first `count` tokens of another sequence. */
  copyPrefix(source: CachedSequence, count: number): void {
    this.truncate(0);
    this.reserve(count);
    this.cache.copyRow(0, source.cache, 0, 0, count);
    this.tokens = source.tokens.slice(0, count);
    this.asPrompt = count;
  }
}

/** The sessions' sequences, the least recently used forgotten where they need too much memory. */
export class SequenceStore {
  private readonly sequences = new Map<string, CachedSequence>();

  constructor(
    private readonly config: LlamaConfig,
    private readonly maximumBytes: number,
  ) {}

  /**
   * The session's sequence, cut to what it shares with `tokenIds` (the last token aside, whose logits are wanted), or
   * filled with the whole pieces of a prompt that another session has computed.
   */
  open(sessionId: string, tokenIds: Int32Array): CachedSequence {
    const sequence = this.sequences.get(sessionId) ?? new CachedSequence(this.config);
    this.sequences.delete(sessionId);
    this.evict();
    this.sequences.set(sessionId, sequence);
    sequence.busy = true;
    const usable = tokenIds.length - 1;
    sequence.truncate(Math.min(usable, commonPrefix(sequence.tokens, tokenIds)));
    let [donor, shared] = [sequence, sequence.tokens.length];
    for (const other of this.sequences.values()) {
      const common = Math.min(usable, other.asPrompt, commonPrefix(other.tokens, tokenIds));
      const whole = Math.floor(common / chunkTokens) * chunkTokens;
      if (whole > shared) [donor, shared] = [other, whole];
    }
    if (donor !== sequence) sequence.copyPrefix(donor, shared);
    return sequence;
  }

  isBusy(sessionId: string): boolean {
    return this.sequences.get(sessionId)?.busy === true;
  }

  release(sessionId: string): void {
    this.sequences.delete(sessionId);
  }

  clear(): void {
    this.sequences.clear();
  }

  private evict(): void {
    let bytes = 0;
    for (const sequence of this.sequences.values()) bytes += sequence.cache.bytes;
    for (const [sessionId, sequence] of this.sequences) {
      if (bytes <= this.maximumBytes) return;
      if (sequence.busy) continue;
      bytes -= sequence.cache.bytes;
      this.sequences.delete(sessionId);
    }
  }
}

function commonPrefix(tokens: readonly number[], tokenIds: Int32Array): number {
  const limit = Math.min(tokens.length, tokenIds.length);
  let length = 0;
  while (length < limit && tokens[length] === tokenIds[length]) length++;
  return length;
}
