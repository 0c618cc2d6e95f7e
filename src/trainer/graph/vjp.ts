import type { Graph, Tensor } from './graph.js';
import type { Op } from './ops.js';
import { addDims, isFloat, multiplyDims, type Dim } from './shape.js';

/**
 * Vector-Jacobian product of one operation: from the gradient of its value, the gradients of its inputs (null where
 * there is none, as for indices). A gradient may still have the broadcast shape: the walk sums it down.
 */
type Rule<K extends Op> = (graph: Graph, node: Tensor<K>, gradient: Tensor) => readonly (Tensor | null)[];

const notDifferentiable = (_: Graph, node: Tensor): null[] => node.inputs.map(() => null);

/** Total: an operation without a rule does not compile. */
export const rules: { readonly [K in Op]: Rule<K> } = {
  input: notDifferentiable,
  constant: notDifferentiable,

  add: (_, __, g) => [g, g],
  sub: (graph, _, g) => [g, graph.neg(g)],
  mul: (graph, { inputs: [a, b] }, g) => [graph.mul(g, b), graph.mul(g, a)],
  // d(a/b) = da/b - (a/b) db/b
  div: (graph, node, g) => {
    const scaled = graph.div(g, node.inputs[1]);
    return [scaled, graph.neg(graph.mul(scaled, node))];
  },
  neg: (graph, _, g) => [graph.neg(g)],
  exp: (graph, node, g) => [graph.mul(g, node)],
  log: (graph, { inputs: [a] }, g) => [graph.div(g, a)],
  // d sqrt(a) = da / (2 sqrt(a))
  sqrt: (graph, node, g) => [graph.div(graph.mul(g, graph.scalar(0.5)), node)],
  // s' = s - s^2
  sigmoid: (graph, node, g) => [graph.mul(g, graph.sub(node, graph.mul(node, node)))],
  where: (graph, { inputs: [condition] }, g) => {
    const zero = graph.scalar(0, g.dtype);
    return [null, graph.where(condition, g, zero), graph.where(condition, zero, g)];
  },
  equal: notDifferentiable,
  greaterOrEqual: notDifferentiable,
  and: notDifferentiable,
  cast: (graph, { inputs: [a], dtype }, g) => [isFloat(a.dtype) && isFloat(dtype) ? graph.cast(g, a.dtype) : null],

  reshape: (graph, { inputs: [a] }, g) => [graph.reshape(g, a.shape)],
  expand: (_, __, g) => [g],
  transpose: (graph, { parameters: { permutation } }, g) => {
    const inverse: number[] = [];
    permutation.forEach((axis, index) => (inverse[axis] = index));
    return [graph.transpose(g, inverse)];
  },
  slice: (graph, { parameters: { axis, start, end }, inputs: [a] }, g) => {
    const zeros = (size: Dim): Tensor[] => {
      const shape = a.shape.map((dim, index) => (index === axis ? size : dim));
      return size === 0 ? [] : [graph.expand(graph.scalar(0, g.dtype), shape)];
    };
    return [graph.concat([...zeros(start), g, ...zeros(addDims(a.shape[axis], end, -1))], axis)];
  },
  concat: (graph, { parameters: { axis }, inputs }, g) => {
    let start: Dim = 0;
    return inputs.map((part) => {
      const end = addDims(start, part.shape[axis]);
      const piece = graph.slice(g, axis, start, end);
      start = end;
      return piece;
    });
  },

  reduceSum: (graph, { inputs: [a] }, g) => [graph.expand(g, a.shape)],
  // Where several elements are the largest, they share the gradient.
  reduceMax: (graph, node, g) => {
    const isLargest = graph.cast(graph.equal(node.inputs[0], node), 'float32');
    return [graph.mul(isLargest, graph.div(g, graph.reduceSum(isLargest, node.parameters.axes)))];
  },
  // p * (g - sum(g * p))
  softmax: (graph, node, g) => {
    const sum = graph.reduceSum(graph.mul(g, node), [node.shape.length - 1]);
    return [graph.mul(node, graph.sub(g, sum))];
  },
  // g - p * sum(g)
  logSoftmax: (graph, node, g) => {
    const sum = graph.reduceSum(g, [node.shape.length - 1]);
    return [graph.sub(g, graph.mul(graph.exp(node), sum))];
  },
  // For C = A B: dA = dC B', dB = A' dC; the flags move to the other side.
  matmul: (graph, { parameters: { transposeA, transposeB }, inputs: [a, b] }, g) => [
    transposeA
      ? graph.matmul(b, g, { transposeA: transposeB, transposeB: true })
      : graph.matmul(g, b, { transposeB: !transposeB }),
    transposeB
      ? graph.matmul(g, a, { transposeA: true, transposeB: transposeA })
      : graph.matmul(a, g, { transposeA: !transposeA }),
  ],

  gather: (graph, { inputs: [table, indices] }, g) => {
    const count = multiplyDims(indices.shape);
    const width = multiplyDims(table.shape.slice(1));
    const updates = graph.cast(graph.reshape(g, [count, width]), 'float32');
    const rows = graph.scatterAddRows(updates, graph.reshape(indices, [count]), table.shape[0]);
    return [graph.cast(graph.reshape(rows, table.shape), table.dtype), null];
  },
  scatterAddRows: (graph, { inputs: [, indices] }, g) => [graph.gather(g, indices), null],
  pick: (graph, { inputs: [values, indices] }, g) => [
    graph.addAt(graph.expand(graph.scalar(0, g.dtype), values.shape), indices, g),
    null,
  ],
  addAt: (graph, { inputs: [, indices] }, g) => [g, null, graph.pick(g, indices)],

  after: (_, { inputs: [, ...others] }, g) => [g, ...others.map(() => null)],

  // A rotation's transpose turns the other way. The tables are data, not parameters.
  rotary: (graph, { inputs: [, positions, cosines, sines] }, g) => [
    graph.rotary(g, positions, cosines, graph.neg(sines)),
    null,
    null,
    null,
  ],
  // With n = x r, r = 1/sqrt(mean(x^2) + eps) and u = g w: dx = r (u - n mean(u n)), dw = g n
  rmsNorm: (graph, { parameters: { epsilon }, inputs: [x, weight] }, g) => {
    const last = x.shape.length - 1;
    const mean = (a: Tensor) => graph.mul(graph.reduceSum(a, [last]), graph.scalar(1 / Number(x.shape[last])));
    const scale = graph.div(graph.scalar(1), graph.sqrt(graph.add(mean(graph.mul(x, x)), graph.scalar(epsilon))));
    const normal = graph.mul(x, scale);
    const scaled = graph.mul(g, weight);
    const along = graph.mul(normal, mean(graph.mul(scaled, normal)));
    return [graph.mul(scale, graph.sub(scaled, along)), graph.mul(g, normal)];
  },

  // With s = sigmoid(a) and y = a s: y' = s + y (1 - s)
  silu: (graph, node, g) => {
    const s = graph.sigmoid(node.inputs[0]);
    return [graph.mul(g, graph.add(s, graph.sub(node, graph.mul(node, s))))];
  },
  // sum(dP * P) over the keys equals sum(dO * O) over the width (FlashAttention, arXiv 2205.14135, appendix B),
  // which spares two passes over [b, kv, group, s, t].
  attend: (graph, node, g) => {
    const [queries, keys, values] = node.inputs;
    const [b, kv, group, s, d] = queries.shape;
    const t = keys.shape[2];
    const flat = (a: Tensor, width = d) => graph.reshape(a, [b, kv, multiplyDims([group, s]), width]);
    const weights = attentionWeights(node);
    const outward = flat(g);
    const wide = (a: Tensor) => graph.cast(a, 'float32');
    const spread = graph.reduceSum(graph.mul(wide(outward), wide(flat(node))), [3]);
    const along = wide(graph.matmul(outward, values, { transposeB: true }));
    const ofScores = graph.mul(wide(weights), graph.sub(along, spread));
    const scores = graph.cast(ofScores, queries.dtype);
    return [
      graph.reshape(graph.matmul(scores, keys), queries.shape),
      graph.matmul(scores, flat(queries), { transposeA: true }),
      graph.matmul(weights, outward, { transposeA: true }),
      graph.reshape(ofScores, [b, kv, group, s, t]),
    ];
  },
  // dlogp_i/dz_j = [i = target] - p_j and dH/dz_j = -p_j (log p_j + H)
  tokenScores: (graph, node, g) => {
    const [logits, targets] = node.inputs;
    const logprobs = graph.logSoftmax(logits);
    const [toLogprob, toEntropy] = [graph.slice(g, 1, 0, 1), graph.slice(g, 1, 1, 2)];
    const entropies = graph.slice(node, 1, 1, 2);
    const shared = graph.neg(graph.add(toLogprob, graph.mul(toEntropy, entropies)));
    const spread = graph.mul(graph.exp(logprobs), graph.sub(shared, graph.mul(logprobs, toEntropy)));
    return [graph.addAt(spread, targets, toLogprob), null];
  },
};

/** The softmax inside an `attend`, as [b, kv, group * s, t]. */
function attentionWeights(node: Tensor<'attend'>): Tensor {
  const body = node.body!;
  const product = body.op === 'reshape' ? body.inputs[0] : body;
  return product.inputs[0];
}
