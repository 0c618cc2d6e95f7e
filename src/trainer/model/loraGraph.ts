import type { Graph, Tensor } from '../graph/graph.js';
import type { LlamaConfig } from './llamaConfig.js';
import { adapterScale, factorNames, factorShapes, type AdapterConfig } from './lora.js';

export interface AdapterInputs {
  /** The factors as they are fed, by name. */
  readonly inputs: ReadonlyMap<string, Tensor>;
  /** What `lowRankProduct` looks up: the same, with the adapter's scale in every B. */
  readonly weights: ReadonlyMap<string, Tensor>;
}

/** Declares an adapter's factors as inputs of the graph. */
export function adapterInputs(graph: Graph, model: LlamaConfig, adapter: AdapterConfig): AdapterInputs {
  const inputs = new Map([...factorShapes(model, adapter)].map(([name, shape]) => [name, graph.input(name, shape)]));
  const scale = graph.scalar(adapterScale(adapter));
  const scaled = (name: string, input: Tensor) => (name.endsWith('.lora_B.weight') ? graph.mul(input, scale) : input);
  return { inputs, weights: new Map([...inputs].map(([name, input]) => [name, scaled(name, input)])) };
}

/** What an adapter adds to a projection of `input`, scale * B A x: [n, in] -> [n, out]; null where it has no factors for it. */
export function lowRankProduct(
  graph: Graph,
  weights: ReadonlyMap<string, Tensor>,
  input: Tensor,
  weight: string,
): Tensor | null {
  const names = factorNames(weight);
  const [a, b] = [weights.get(names.a), weights.get(names.b)];
  if (!a || !b) return null;
  return graph.matmul(graph.matmul(input, a, { transposeB: true }), b, { transposeB: true });
}
