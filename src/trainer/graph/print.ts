import type { Tensor } from './graph.js';
import { showShape } from './shape.js';
import { topologicalOrder } from './topologicalOrder.js';

/**
 * A readable listing, one tensor a line, numbered in the order of computation. A composite operation is one line
 * unless its parts are used by others.
 *
 *     %2 = matmul(%0, %1) {"transposeB":true} : float32[4, 8]
 */
export function printGraph(outputs: ReadonlyMap<string, Tensor>): string {
  const order = topologicalOrder([...outputs.values()], (tensor) => tensor.inputs);
  const numbers = new Map(order.map((tensor, index) => [tensor, index]));
  const reference = (tensor: Tensor) => `%${numbers.get(tensor)}`;
  const lines = order.map((tensor) => {
    const shown = Object.entries(tensor.parameters).filter(([, value]) => value !== false);
    const parameters = shown.length > 0 ? ` ${JSON.stringify(Object.fromEntries(shown))}` : '';
    const call = `${tensor.op}(${tensor.inputs.map(reference).join(', ')})${parameters}`;
    return `${reference(tensor)} = ${call} : ${tensor.dtype}${showShape(tensor.shape)}`;
  });
  for (const [name, tensor] of outputs) lines.push(`${name}: ${reference(tensor)}`);
  return lines.join('\n');
}
