import type { Graph, Tensor } from './graph.js';
import type { Op } from './ops.js';
import { sameShape, showShape, type Shape } from './shape.js';
import { rules } from './vjp.js';

/** An output, and what is known of the loss's gradient with respect to it. */
export interface Seed {
  readonly output: Tensor;
  readonly gradient: Tensor;
}

/**
 * Gradients of sum(output * outputGradient) with respect to each of `parameters`, which keep their shapes.
 * Throws where a parameter does not reach the output.
 */
export function gradients(graph: Graph, output: Tensor, gradient: Tensor, parameters: readonly Tensor[]): Tensor[] {
  return gradientsOfAll(graph, [{ output, gradient }], parameters).map((found, index) => {
    if (found) return found;
    throw new Error(`internal: the output does not depend on ${JSON.stringify(parameters[index].parameters)}.`);
  });
}

/** As `gradients`, of a sum over several outputs; null for a parameter that reaches none of them. */
export function gradientsOfAll(graph: Graph, seeds: readonly Seed[], parameters: readonly Tensor[]): (Tensor | null)[] {
  const order = topologicalOrder(
    seeds.map(({ output }) => output),
    (tensor) => tensor.inputs,
  );
  const needed = new Set<Tensor>(parameters);
  for (const tensor of order) if (tensor.inputs.some((input) => needed.has(input))) needed.add(tensor);

  const found = new Map<Tensor, Tensor>();
  const add = (tensor: Tensor, part: Tensor) => {
    const own = unbroadcast(graph, part, tensor.shape);
    const earlier = found.get(tensor);
    found.set(tensor, earlier ? graph.add(earlier, own) : own);
  };
  for (const { output, gradient } of seeds) add(output, gradient);
  for (const tensor of order.reverse()) {
    const gradient = found.get(tensor);
    if (!gradient || !needed.has(tensor)) continue;
    applyRule(graph, tensor, gradient).forEach((part, index) => {
      const input = tensor.inputs[index];
      if (part && needed.has(input)) add(input, part);
    });
  }
  return parameters.map((parameter) => found.get(parameter) ?? null);
}

function applyRule<K extends Op>(graph: Graph, tensor: Tensor<K>, gradient: Tensor): readonly (Tensor | null)[] {
  return graph.at(`gradient of ${tensor.op}`, () => rules[tensor.op](graph, tensor, gradient));
}

/** Sums a gradient over the axes along which a value was broadcast. */
function unbroadcast(graph: Graph, gradient: Tensor, shape: Shape): Tensor {
  if (sameShape(gradient.shape, shape)) return gradient;
  const lead = gradient.shape.length - shape.length;
  if (lead < 0) throw new Error(`internal: a gradient ${showShape(gradient.shape)} for ${showShape(shape)}.`);
  const axes = [...gradient.shape.keys()].filter(
    (axis) => axis < lead || (shape[axis - lead] === 1 && gradient.shape[axis] !== 1),
  );
  const sum = graph.reduceSum(graph.cast(gradient, 'float32'), axes);
  return graph.cast(graph.reshape(sum, shape), gradient.dtype);
}

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
