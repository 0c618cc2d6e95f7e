import { elementCount, parameterShapes, type LlamaConfig } from './llamaConfig.js';
import { uniformStream } from './sampling.js';

/** The matrices of a layer that an adapter can change, by Hugging Face's names. */
export const projections = ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj'] as const;
export type Projection = (typeof projections)[number];

/**
 * What a LoRA adapter changes (arXiv 2106.09685): a projection W x becomes W x + (alpha / rank) B A x, with A [rank, in] and
 * B [out, rank]; with `rankStabilized`, alpha / sqrt(rank) (arXiv 2312.03732). There is no dropout.
 */
export interface AdapterConfig {
  readonly rank: number;
  readonly alpha: number;
  readonly targets: readonly Projection[];
  readonly rankStabilized?: boolean;
}

/** Factors by PEFT's names without its prefix: `model.layers.0.self_attn.q_proj.lora_A.weight`. */
export interface Adapter {
  readonly config: AdapterConfig;
  readonly factors: ReadonlyMap<string, Float32Array>;
}

/** The two factors of a projection's weight. */
export const factorNames = (weight: string): { readonly a: string; readonly b: string } => {
  const module = weight.replace(/\.weight$/, '');
  return { a: `${module}.lora_A.weight`, b: `${module}.lora_B.weight` };
};

export const adapterScale = ({ rank, alpha, rankStabilized = false }: AdapterConfig): number =>
  alpha / (rankStabilized ? Math.sqrt(rank) : rank);

/** The alpha that counts alpha / rank, also where the adapter's own is rank-stabilized. */
export const alphaByRank = (config: AdapterConfig): number =>
  config.rankStabilized ? adapterScale(config) * config.rank : config.alpha;

/** Names and shapes [out, in] of the weights that an adapter changes, in the model's order. */
export function adaptedWeights(model: LlamaConfig, adapter: AdapterConfig): Map<string, readonly [number, number]> {
  const isTarget = (name: string) => adapter.targets.some((projection) => name.endsWith(`.${projection}.weight`));
  const found = new Map<string, readonly [number, number]>();
  for (const [name, shape] of parameterShapes(model)) if (isTarget(name)) found.set(name, [shape[0], shape[1]]);
  return found;
}

/** Every factor's name and shape, in a fixed order. */
export function factorShapes(model: LlamaConfig, adapter: AdapterConfig): Map<string, number[]> {
  const shapes = new Map<string, number[]>();
  for (const [name, [out, inputs]] of adaptedWeights(model, adapter)) {
    const { a, b } = factorNames(name);
    shapes.set(a, [adapter.rank, inputs]).set(b, [out, adapter.rank]);
  }
  return shapes;
}

/** An adapter that changes nothing yet, as PEFT makes it: B is 0, A uniform within 1/sqrt(in). The same seed gives the same bits. */
export function freshAdapter(model: LlamaConfig, config: AdapterConfig, seed: number): Adapter {
  const uniform = uniformStream(seed);
  const factors = new Map<string, Float32Array>();
  for (const [name, shape] of factorShapes(model, config)) {
    const values = new Float32Array(elementCount(shape));
    const bound = 1 / Math.sqrt(shape[1]);
    if (name.endsWith('.lora_A.weight'))
      for (let i = 0; i < values.length; i++) values[i] = (2 * uniform() - 1) * bound;
    factors.set(name, values);
  }
  return { config, factors };
}

export const copyAdapter = ({ config, factors }: Adapter): Adapter => ({
  config,
  factors: new Map([...factors].map(([name, values]) => [name, values.slice()])),
});

/** Whether two adapters change the same matrices in the same way, in whatever order these are named. */
export function sameAdapterConfig(left: AdapterConfig, right: AdapterConfig): boolean {
  const targets = (config: AdapterConfig) => projections.filter((one) => config.targets.includes(one)).join();
  // One of the two may have been written down in decimals, or with a root where the other has none.
  const sameScale = Math.abs(adapterScale(left) / adapterScale(right) - 1) < 1e-6;
  return left.rank === right.rank && sameScale && targets(left) === targets(right);
}

/** Adds an adapter's change to the weights, in place: W + scale * B A. */
export function mergeAdapter(
  model: LlamaConfig,
  parameters: ReadonlyMap<string, Float32Array>,
  adapter: Adapter,
): void {
  const { rank } = adapter.config;
  const scale = adapterScale(adapter.config);
  for (const [name, [out, inputs]] of adaptedWeights(model, adapter.config)) {
    const names = factorNames(name);
    const [a, b, weight] = [adapter.factors.get(names.a)!, adapter.factors.get(names.b)!, parameters.get(name)!];
    const sums = new Float64Array(inputs);
    for (let row = 0; row < out; row++) {
      sums.fill(0);
      for (let k = 0; k < rank; k++) {
        const factor = scale * b[row * rank + k];
        for (let column = 0; column < inputs; column++) sums[column] += factor * a[k * inputs + column];
      }
      for (let column = 0; column < inputs; column++) weight[row * inputs + column] += sums[column];
    }
  }
}
