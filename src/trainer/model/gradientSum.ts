/** Gradients by parameter, added up over micro-batches. */
export class GradientSum {
  readonly values: ReadonlyMap<string, Float32Array>;
  /** Those that nothing was added to. */
  private readonly zeros: Set<string>;

  constructor(parameters: ReadonlyMap<string, Float32Array>) {
    this.values = new Map([...parameters].map(([name, values]) => [name, new Float32Array(values.length)]));
    this.zeros = new Set(this.values.keys());
  }

  add(name: string, gradient: Float32Array): void {
    const sum = this.values.get(name)!;
    // The first is copied, which is several times as fast.
    if (this.zeros.delete(name)) sum.set(gradient);
    else for (let i = 0; i < sum.length; i++) sum[i] += gradient[i];
  }

  /** Adds another sum of the same parameters, times `factor`. */
  addScaled(other: GradientSum, factor: number): void {
    for (const [name, gradient] of other.values) {
      if (other.zeros.has(name)) continue;
      this.zeros.delete(name);
      const sum = this.values.get(name)!;
      for (let i = 0; i < sum.length; i++) sum[i] += factor * gradient[i];
    }
  }

  clear(): void {
    for (const [name, values] of this.values) {
      if (!this.zeros.has(name)) values.fill(0);
      this.zeros.add(name);
    }
  }
}
