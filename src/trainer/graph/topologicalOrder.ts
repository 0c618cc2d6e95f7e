import type { Tensor } from './graph.js';

/** Every tensor that `roots` are made of, each after those it is made of. Iterative: graphs are deep. */
export function topologicalOrder(roots: readonly Tensor[], children: (tensor: Tensor) => readonly Tensor[]): Tensor[] {
  const order: Tensor[] = [];
  const done = new Set<Tensor>();
  const stack = roots.map((tensor) => ({ tensor, next: 0 })).reverse();
  while (stack.length > 0) {
    const top = stack[stack.length - 1];
    const inputs = done.has(top.tensor) ? [] : children(top.tensor);
    if (top.next < inputs.length) {
      stack.push({ tensor: inputs[top.next++], next: 0 });
      continue;
    }
    stack.pop();
    if (!done.has(top.tensor)) {
      done.add(top.tensor);
      order.push(top.tensor);
    }
  }
  return order;
}
