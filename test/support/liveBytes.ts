import { topologicalOrder } from '../../src/trainer/graph/topologicalOrder.js';
import type { Tensor } from '../../src/trainer/graph/graph.js';
import { terms, type Dim } from '../../src/trainer/graph/shape.js';

const bytesOf = { float32: 4, float16: 2, int32: 4, int64: 8, bool: 1 } as const;

/**
 * The most bytes that live at once where a graph's outputs are computed one after the other and each tensor goes when nothing needs
 * it any more; of those tensors alone whose size follows from `symbols`, so without weights and their gradients.
 */
export function liveBytes(outputs: readonly Tensor[], symbols: Readonly<Record<string, number>>): number {
  const inputsOf = (tensor: Tensor) => (tensor.body ? [tensor.body] : tensor.inputs);
  const valueOf = (dim: Dim) =>
    terms(dim).reduce(
      (sum, term) => sum + term.symbols.reduce((product, symbol) => product * symbols[symbol], term.number),
      0,
    );
  const sizeOf = ({ shape, dtype }: Tensor) => shape.reduce((size: number, dim) => size * valueOf(dim), bytesOf[dtype]);
  // A reshaped tensor, one that waits for others, and a composite operation are another's memory.
  const owner = (tensor: Tensor): Tensor => {
    if (tensor.body) return owner(tensor.body);
    return tensor.op === 'reshape' || tensor.op === 'after' ? owner(tensor.inputs[0]) : tensor;
  };
  const counts = (tensor: Tensor) =>
    owner(tensor) === tensor &&
    tensor.op !== 'input' &&
    tensor.op !== 'constant' &&
    tensor.shape.some((dim) => typeof dim === 'string');

  const order = topologicalOrder(outputs, inputsOf);
  const lastUse = new Map<Tensor, Tensor>();
  for (const tensor of order) for (const input of inputsOf(tensor)) lastUse.set(owner(input), tensor);
  for (const output of outputs) lastUse.delete(owner(output));
  const over = new Map<Tensor, Tensor[]>();
  for (const [tensor, user] of lastUse) over.set(user, [...(over.get(user) ?? []), tensor]);
  let [live, most] = [0, 0];
  for (const tensor of order) {
    if (counts(tensor)) live += sizeOf(tensor);
    most = Math.max(most, live);
    for (const ended of over.get(tensor) ?? []) if (counts(ended)) live -= sizeOf(ended);
  }
  return most;
}
