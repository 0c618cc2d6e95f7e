import type { LlamaConfig } from './llamaConfig.js';

/**
 * Keys and values of sequences, in memory of ours that a decoder is fed without copying. Of each layer: keys
 * [rows, keyValueHeads, headDim, capacity], values [rows, keyValueHeads, capacity, headDim].
 */
export class KeyValueCache {
  readonly keys: readonly Float32Array[];
  readonly values: readonly Float32Array[];
  /** Numbers of one row in one layer's keys, or values. */
  readonly rowSize: number;

  constructor(
    private readonly config: LlamaConfig,
    readonly rows: number,
    readonly capacity: number,
  ) {
    this.rowSize = config.keyValueHeads * config.headDim * capacity;
    const layers = () => Array.from({ length: config.layers }, () => new Float32Array(rows * this.rowSize));
    this.keys = layers();
    this.values = layers();
  }

  get bytes(): number {
    return 2 * this.config.layers * this.rows * this.rowSize * Float32Array.BYTES_PER_ELEMENT;
  }

  /** Copies the first `count` positions of another cache's row. */
  copyRow(row: number, source: KeyValueCache, sourceRow: number, count: number): void {
    const { layers, keyValueHeads: kv, headDim: d } = this.config;
    for (let layer = 0; layer < layers; layer++) {
      for (let line = 0; line < kv * d; line++) {
        const from = (sourceRow * kv * d + line) * source.capacity;
        const to = (row * kv * d + line) * this.capacity;
        this.keys[layer]!.set(source.keys[layer]!.subarray(from, from + count), to);
      }
      for (let head = 0; head < kv; head++) {
        const from = (sourceRow * kv + head) * source.capacity * d;
        const to = (row * kv + head) * this.capacity * d;
        this.values[layer]!.set(source.values[layer]!.subarray(from, from + count * d), to);
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
      const valuesTo = ((row * kv + head) * this.capacity + start) * d;
      for (let i = 0; i < count * d; i++) values[valuesTo + i] = output.values[from + i]!;
      for (let t = 0; t < count; t++)
        for (let i = 0; i < d; i++)
          keys[((row * kv + head) * d + i) * this.capacity + start + t] = output.keys[from + t * d + i]!;
    }
  }
}
