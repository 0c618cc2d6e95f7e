import { substitution } from './substitution.js';
import type { Graph, Tensor } from './graph.js';
import type { Op } from './ops.js';
import { sameShape, showShape, type Shape } from './shape.js';
import { topologicalOrder } from './topologicalOrder.js';
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

/**
 * As `gradients`, of a sum over several outputs; null for a parameter that reaches none of them.
 *
 * What the derivatives need of the values is kept from when it is computed. With `checkpoints`, each made of the one before it, only
 * they are kept, and what comes behind the last, which is needed first: what lies between two is computed again from the first of
 * them, once all that comes behind has its gradients (Chen et al., arXiv 1604.06174).
 */
export function gradientsOfAll(
  graph: Graph,
  seeds: readonly Seed[],
  parameters: readonly Tensor[],
  checkpoints: readonly Tensor[] = [],
): (Tensor | null)[] {
  const order = topologicalOrder(
    seeds.map(({ output }) => output),
    (tensor) => tensor.inputs,
  );
  const needed = new Set<Tensor>(parameters);
  for (const tensor of order) if (tensor.inputs.some((input) => needed.has(input))) needed.add(tensor);

  const found = new Map<Tensor, Tensor>();
  const add = (tensor: Tensor, part: Tensor): Tensor => {
    const own = unbroadcast(graph, part, tensor.shape);
    const earlier = found.get(tensor);
    const sum = earlier ? graph.add(earlier, own) : own;
    found.set(tensor, sum);
    return sum;
  };
  for (const { output, gradient } of seeds) add(output, gradient);
  /** What the stage behind found for tensors of those before it: with that it is over. */
  let handedOn = new Map<Tensor, Tensor>();
  const stages = stagesOf(order, checkpoints);
  for (const [number, stage] of [...stages.entries()].reverse()) {
    const start = checkpoints[number - 1];
    const isKept = start === undefined || number === checkpoints.length;
    const value = isKept
      ? (tensor: Tensor) => tensor
      : substitution(graph, new Map([[start, graph.after(start, [...handedOn.values()])]]));
    const inStage = new Set(stage);
    handedOn = new Map();
    for (const tensor of stage.reverse()) {
      const gradient = found.get(tensor);
      if (!gradient || !needed.has(tensor)) continue;
      applyRule(graph, value(tensor), gradient).forEach((part, index) => {
        const input = tensor.inputs[index];
        if (!part || !needed.has(input)) return;
        const sum = add(input, part);
        if (!inStage.has(input)) handedOn.set(input, sum);
      });
    }
  }
  return parameters.map((parameter) => found.get(parameter) ?? null);
}

/** An order in parts, each in order: what depends on no checkpoint, what on the first alone, what on the first two, and so on. */
function stagesOf(order: readonly Tensor[], checkpoints: readonly Tensor[]): Tensor[][] {
  const stages: Tensor[][] = Array.from({ length: checkpoints.length + 1 }, () => []);
  const stageOf = new Map<Tensor, number>();
  for (const tensor of order) {
    const behind = tensor.inputs.map((input) => Math.max(stageOf.get(input)!, checkpoints.indexOf(input) + 1));
    const stage = Math.max(0, ...behind);
    stageOf.set(tensor, stage);
    stages[stage].push(tensor);
  }
  return stages;
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
