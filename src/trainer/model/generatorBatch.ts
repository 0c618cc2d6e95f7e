import { KeyValueCache } from './generatorCache.js';
import type { CachedSequence } from './generatorSequences.js';
import { type GeneratorSession, masked } from './generatorSession.js';
import type { LlamaConfig } from './llamaConfig.js';
import type { ConstraintCursor } from '../text/grammar/tokenConstraint.js';
import type { GenerationRequest } from './policy.js';

/** A request with what became of it so far. */
export interface Generation {
  readonly request: GenerationRequest;
  readonly sequence: CachedSequence;
  readonly uniform: () => number;
  readonly cursor: ConstraintCursor | null;
  readonly tokenIds: number[];
  readonly logprobs: number[];
  readonly entropies: number[];
}

/**
 * Capacities are multiples of this. What is not filled is read at every step as the rest is, for which there is most of a step's time
 * beside the weights; so it is little. But everyone moves when the capacity changes: it grows by more where sequences are long, and
 * gives back only what is much.
 */
const capacityStep = 32;
const growth = 1 / 16;
const spare = 1 / 4;

/**
 * More rows are computed in several runs: from 17 on the CPU's kernels add up in another order, so that a request's last bits would
 * depend on how many others there are.
 */
const mostRows = 16;

/**
 * The generations that are decoded together, a token a step; their caches lie side by side. What they sample is kept here, and given to
 * their sequences when they leave.
 */
export class GeneratorBatch {
  private readonly generations: Generation[] = [];
  private cache: KeyValueCache;
  private pastBias: Float32Array;

  constructor(
    private readonly config: LlamaConfig,
    private readonly session: GeneratorSession,
    private readonly slots: number,
    /** Shapes that follow from the generations alone, and always all slots. */
    private readonly fixedShape: boolean,
  ) {
    this.cache = this.emptyCache();
    this.pastBias = this.biases();
  }

  add(generation: Generation): void {
    this.generations.push(generation);
    this.fitCapacity();
    const { cache, tokens } = generation.sequence;
    const row = this.generations.length - 1;
    this.cache.copyRow(row, cache, 0, 0, tokens.length);
    this.unmask(row);
  }

  remove(generation: Generation): void {
    const row = this.generations.indexOf(generation);
    if (row < 0) return;
    const { sequence, request } = generation;
    sequence.keep(this.cache, row, request.tokenIds.length);
    const last = this.generations.pop()!;
    if (last === generation) return;
    this.generations[row] = last;
    this.cache.copyRow(row, this.cache, this.generations.length, 0, last.sequence.tokens.length);
    this.unmask(row);
  }

  /** Removes everyone, and with them numbers that are none: even masked, those would be in the sums of who comes next. */
  clear(): void {
    this.generations.length = 0;
    this.cache = this.emptyCache();
    this.pastBias = this.biases();
  }

  /** Feeds every generation its last token; returns each one's logits, [vocabulary]. */
  async step(): Promise<readonly { readonly generation: Generation; readonly logits: Float32Array }[]> {
    this.fitCapacity();
    const generations = [...this.generations];
    const stepped: { generation: Generation; logits: Float32Array }[] = [];
    // In a fixed shape the rows that are free are computed too.
    const end = this.fixedShape ? this.cache.rows : generations.length;
    for (let first = 0; first < end; first += mostRows)
      stepped.push(...(await this.stepRows(generations.slice(first, first + mostRows), first)));
    return stepped;
  }

  /** The same for the generations of the rows from `first` on. */
  private async stepRows(generations: readonly Generation[], first: number) {
    const rows = this.shapeRows(generations.length, this.cache.rows - first);
    const { capacity } = this.cache;
    const tokens = new Int32Array(rows);
    const positions = new BigInt64Array(rows);
    generations.forEach(({ sequence, tokenIds }, row) => {
      tokens[row] = tokenIds.at(-1)!;
      positions[row] = BigInt(sequence.tokens.length);
    });
    const { logits, layers } = await this.session.run({
      rows,
      firstRow: first,
      time: 1,
      tokens,
      positions,
      picks: Int32Array.from({ length: rows }, (_, row) => row),
      cache: this.cache,
      pastBias: this.pastBias.subarray(first * capacity, (first + rows) * capacity),
    });
    const { vocabularySize } = this.config;
    return generations.map((generation, row) => {
      const { sequence } = generation;
      const position = sequence.tokens.length;
      layers.forEach((layer, index) => this.cache.write(first + row, position, index, layer, row, 1, 1));
      this.pastBias[(first + row) * capacity + position] = 0;
      sequence.tokens.push(tokens[row]!);
      return { generation, logits: logits.subarray(row * vocabularySize, (row + 1) * vocabularySize) };
    });
  }

  /** Makes room for one more token of the longest sequence, and gives back what none needs. */
  private fitCapacity(): void {
    const longest = Math.max(...this.generations.map(({ sequence }) => sequence.tokens.length + 1));
    const wanted = Math.ceil((longest * (1 + growth)) / capacityStep) * capacityStep;
    const { capacity } = this.cache;
    const isWellFilled = !this.fixedShape && longest <= capacity && wanted >= capacity * (1 - spare);
    if (wanted === capacity || isWellFilled) return;
    this.cache.resize(wanted, this.generations.length);
    this.pastBias = this.biases();
  }

  /** Rows of the model's input for this many generations; where a shape must be compiled, powers of two, so that there are few. */
  private shapeRows(count: number, left: number): number {
    const most = Math.min(mostRows, left);
    if (this.fixedShape) return most;
    const { leastRows, takesAnyShape } = this.session;
    let rows: number = leastRows;
    while (rows < count) rows = takesAnyShape ? count : rows * 2;
    return Math.min(rows, most);
  }

  private emptyCache(): KeyValueCache {
    // The last run has no row alone either.
    return new KeyValueCache(this.config, this.slots + Number(this.slots % mostRows === 1), capacityStep);
  }

  /** For the cache as it is. */
  private biases(): Float32Array {
    this.pastBias = new Float32Array(this.cache.rows * this.cache.capacity).fill(masked);
    this.generations.forEach((_generation, row) => this.unmask(row));
    return this.pastBias;
  }

  /** Lets a row see what its generation has in the cache, and no more. */
  private unmask(row: number): void {
    const { capacity } = this.cache;
    const { length } = this.generations[row]!.sequence.tokens;
    this.pastBias
      .fill(0, row * capacity, row * capacity + length)
      .fill(masked, row * capacity + length, (row + 1) * capacity);
  }
}
