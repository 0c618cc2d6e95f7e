import type { LlamaConfig } from './llamaConfig.js';

/** Memory is taken for multiples of so many positions, so that a growing cache is seldom moved out of it. */
const roomStep = 256;
/** It is given back where this much less would do. */
const tooMuch = 8;

/**
 * Keys and values of sequences, in memory of ours that a decoder is fed without copying. Of each layer, keys and values:
 * [rows, keyValueHeads, capacity, headDim].
 */
export class KeyValueCache {
  readonly keys: Float32Array[];
  readonly values: Float32Array[];
  private held: number;
  /** Positions that there is memory for. */
  private room: number;

  constructor(
    private readonly config: LlamaConfig,
    readonly rows: number,
    capacity: number,
  ) {
    this.held = capacity;
    this.room = capacity;
    const layers = () => Array.from({ length: config.layers }, () => new Float32Array(rows * this.rowSize));
    this.keys = layers();
    this.values = layers();
  }

  get capacity(): number {
    return this.held;
  }

  /** Numbers of one row in one layer's keys, or values. */
  get rowSize(): number {
    return this.config.keyValueHeads * this.held * this.config.headDim;
  }

  get bytes(): number {
    const { layers, keyValueHeads: kv, headDim: d } = this.config;
    return 2 * layers * this.rows * kv * this.room * d * Float32Array.BYTES_PER_ELEMENT;
  }

  /** Changes the capacity of all rows; the first `used` keep what they have from their start on, as far as it fits. */
  resize(capacity: number, used = this.rows): void {
    if (capacity === this.held) return;
    const room = Math.ceil(capacity / roomStep) * roomStep;
    const staysInPlace = capacity <= this.room && room * tooMuch > this.room;
    const { headDim: d, keyValueHeads: kv } = this.config;
    const [lines, usedLines] = [this.rows * kv, used * kv];
    const [from, to] = [this.held * d, capacity * d];
    const kept = Math.min(from, to);
    const move = (old: Float32Array): Float32Array => {
      const memory = staysInPlace ? new Float32Array(old.buffer) : new Float32Array(lines * room * d);
      const moved = memory.subarray(0, lines * to);
      for (let i = 0; i < usedLines; i++) {
        // Those that move towards the end make room first.
        const line = to > from ? usedLines - 1 - i : i;
        moved.set(old.subarray(line * from, line * from + kept), line * to);
      }
      return moved;
    };
    for (let layer = 0; layer < this.config.layers; layer++) {
      this.keys[layer] = move(this.keys[layer]!);
      this.values[layer] = move(this.values[layer]!);
    }
    this.held = capacity;
    if (!staysInPlace) this.room = room;
  }

  /** Copies the positions from `start` up to `end` of a row of another cache, or of this one. */
  copyRow(row: number, source: KeyValueCache, sourceRow: number, start: number, end: number): void {
    const { layers, keyValueHeads: kv, headDim: d } = this.config;
    for (let layer = 0; layer < layers; layer++) {
      for (let head = 0; head < kv; head++) {
        const from = (sourceRow * kv + head) * source.capacity * d;
        const to = ((row * kv + head) * this.capacity + start) * d;
        this.keys[layer]!.set(source.keys[layer]!.subarray(from + start * d, from + end * d), to);
        this.values[layer]!.set(source.values[layer]!.subarray(from + start * d, from + end * d), to);
      }
    }
  }

  /**
   * Writes the first `count` tokens of one row of a decoder's outputs, [rows, keyValueHeads, time, headDim], at
   * positions from `start`.
   */
  write(
    row: number,
    start: number,
    layer: number,
    output: { readonly keys: Float32Array; readonly values: Float32Array },
    outputRow: number,
    time: number,
    count: number,
  ): void {
    const { keyValueHeads: kv, headDim: d } = this.config;
    const [keys, values] = [this.keys[layer]!, this.values[layer]!];
    for (let head = 0; head < kv; head++) {
      const from = (outputRow * kv + head) * time * d;
      const to = ((row * kv + head) * this.capacity + start) * d;
      if (count > 1) {
        keys.set(output.keys.subarray(from, from + count * d), to);
        values.set(output.values.subarray(from, from + count * d), to);
        continue;
      }
      // For the numbers of one token a loop is faster than views.
      for (let i = 0; i < d; i++) {
        keys[to + i] = output.keys[from + i]!;
        values[to + i] = output.values[from + i]!;
      }
    }
  }
}
