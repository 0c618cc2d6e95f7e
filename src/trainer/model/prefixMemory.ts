/**
 * Keys and values of the tokens that the present micro-batches follow, and the gradients that those have for them. A path of
 * tokens grows and shrinks at its end; arrays are [tokens, keyValueHeads * headDim], one a layer.
 */
export class PrefixMemory {
  /** Tokens of the path. */
  length = 0;
  private readonly keys: Float32Array[];
  private readonly values: Float32Array[];
  private readonly keyGradients: Float32Array[];
  private readonly valueGradients: Float32Array[];

  /** @param capacity most tokens of a path, the padding of its last part included */
  constructor(
    readonly layers: number,
    private readonly width: number,
    capacity: number,
  ) {
    const arrays = () => Array.from({ length: layers }, () => new Float32Array(capacity * width));
    [this.keys, this.values, this.keyGradients, this.valueGradients] = [arrays(), arrays(), arrays(), arrays()];
  }

  /** What the path's tokens are seen by. */
  past(layer: number): { readonly keys: Float32Array; readonly values: Float32Array } {
    const end = this.length * this.width;
    return { keys: this.keys[layer].subarray(0, end), values: this.values[layer].subarray(0, end) };
  }

  /** Lengthens the path by the first `tokens` of these. */
  push(tokens: number, found: readonly { readonly keys: Float32Array; readonly values: Float32Array }[]): void {
    const [start, size] = [this.length * this.width, tokens * this.width];
    found.forEach(({ keys, values }, layer) => {
      this.keys[layer].set(keys.subarray(0, size), start);
      this.values[layer].set(values.subarray(0, size), start);
    });
    this.length += tokens;
  }

  /** Adds a micro-batch's gradients of the path's keys, or values, of one layer. */
  addGradients(layer: number, of: 'keys' | 'values', part: Float32Array): void {
    const sum = of === 'keys' ? this.keyGradients[layer] : this.valueGradients[layer];
    for (let i = 0; i < part.length; i++) sum[i] += part[i];
  }

  /** Shortens the path by its last tokens. Their gradients can be read until `forget`. */
  pop(tokens: number): void {
    this.length -= tokens;
  }

  /** Gradients of the tokens after the path, `count` of them with padding, for which they are 0. */
  gradientsAfter(layer: number, count: number): { readonly keys: Float32Array; readonly values: Float32Array } {
    const [start, end] = [this.length * this.width, (this.length + count) * this.width];
    return {
      keys: this.keyGradients[layer].subarray(start, end),
      values: this.valueGradients[layer].subarray(start, end),
    };
  }

  /** Makes the gradients after the path 0 again. */
  forget(): void {
    for (const gradients of [...this.keyGradients, ...this.valueGradients]) gradients.fill(0, this.length * this.width);
  }
}
