import type { Graph, Tensor } from './graph.js';
import { topologicalOrder } from './topologicalOrder.js';

/**
 * Tensors as they are with others in place of some: what is made of a key of `replaced` is built again of its value, and what is
 * made of none stays the tensor that it is.
 */
export function substitution(graph: Graph, replaced: ReadonlyMap<Tensor, Tensor>): (tensor: Tensor) => Tensor {
  const known = new Map(replaced);
  const copyOf = (root: Tensor): Tensor => {
    for (const tensor of topologicalOrder([root], (each) => (known.has(each) ? [] : each.inputs))) {
      if (known.has(tensor)) continue;
      const inputs = tensor.inputs.map((input) => known.get(input)!);
      const isSame = inputs.every((input, index) => input === tensor.inputs[index]);
      known.set(tensor, isSame ? tensor : graph.again(tensor, inputs, tensor.body && copyOf(tensor.body)));
    }
    return known.get(root)!;
  };
  return copyOf;
}
