import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileGraph, type Feed } from '../../../test/support/evaluateGraph.js';
import { liveBytes } from '../../../test/support/liveBytes.js';
import { gradients, gradientsOfAll } from './gradients.js';
import { Graph, type Tensor } from './graph.js';
import type { Op } from './ops.js';

/** Random sizes and numbers of one case. */
interface Chance {
  size(): number;
  chance(): boolean;
  below(limit: number): number;
  uniform(low: number, high: number): number;
}

interface Case {
  /** Differentiable inputs, within a range where the operation has no kink. */
  readonly inputs: readonly { readonly shape: number[]; readonly low?: number; readonly high?: number }[];
  /** Fed, but not differentiated. */
  readonly others?: Readonly<Record<string, Feed>>;
  readonly build: (graph: Graph, inputs: Tensor[]) => Tensor;
}

/** Every operation with a derivative has a case; null where there is none. Total, so that none is forgotten. */
const cases: { readonly [K in Op]: ((chance: Chance) => Case) | null } = {
  input: null,
  constant: null,
  equal: null,
  greaterOrEqual: null,
  and: null,
  cast: null,

  add: (c) => ({ inputs: broadcasting(c, 2).map((shape) => ({ shape })), build: (g, [a, b]) => g.add(a, b) }),
  sub: (c) => ({ inputs: broadcasting(c, 2).map((shape) => ({ shape })), build: (g, [a, b]) => g.sub(a, b) }),
  mul: (c) => ({ inputs: broadcasting(c, 2).map((shape) => ({ shape })), build: (g, [a, b]) => g.mul(a, b) }),
  div: (c) => {
    const [a, b] = broadcasting(c, 2);
    return { inputs: [{ shape: a }, { shape: b, low: 0.5, high: 2 }], build: (g, [x, y]) => g.div(x, y) };
  },
  neg: (c) => ({ inputs: [{ shape: shapeOf(c) }], build: (g, [a]) => g.neg(a) }),
  exp: (c) => ({ inputs: [{ shape: shapeOf(c) }], build: (g, [a]) => g.exp(a) }),
  log: (c) => ({ inputs: [{ shape: shapeOf(c), low: 0.5, high: 3 }], build: (g, [a]) => g.log(a) }),
  sqrt: (c) => ({ inputs: [{ shape: shapeOf(c), low: 0.5, high: 3 }], build: (g, [a]) => g.sqrt(a) }),
  sigmoid: (c) => ({ inputs: [{ shape: shapeOf(c) }], build: (g, [a]) => g.sigmoid(a) }),
  silu: (c) => ({ inputs: [{ shape: shapeOf(c), low: -3, high: 3 }], build: (g, [a]) => g.silu(a) }),
  where: (c) => {
    const [condition, a, b] = broadcasting(c, 3);
    const other = { shape: condition, floats: Float32Array.from(random(c, condition, -1, 1), Math.sign) };
    return {
      inputs: [{ shape: a }, { shape: b }],
      others: { condition: other },
      build: (g, [x, y]) => g.where(g.equal(g.input('condition', condition), g.scalar(1)), x, y),
    };
  },

  reshape: (c) => {
    const shape = shapeOf(c, 3);
    return { inputs: [{ shape }], build: (g, [a]) => g.reshape(a, [shape[0] * shape[1], shape[2]]) };
  },
  expand: (c) => {
    const [small, large] = [c.chance() ? [1, 3] : [3], [2, 4, 3]];
    return { inputs: [{ shape: small }], build: (g, [a]) => g.expand(a, large) };
  },
  transpose: (c) => ({ inputs: [{ shape: shapeOf(c, 3) }], build: (g, [a]) => g.transpose(a, [2, 0, 1]) }),
  slice: (c) => {
    const [start, size, after] = [c.below(3), c.size(), c.below(3)];
    const shape = [c.size(), start + size + after, c.size()];
    return { inputs: [{ shape }], build: (g, [a]) => g.slice(a, 1, start, start + size) };
  },
  concat: (c) => {
    const [rows, columns] = [c.size(), c.size()];
    const inputs = [c.size(), c.size(), c.size()].map((size) => ({ shape: [rows, size, columns] }));
    return { inputs, build: (g, parts) => g.concat(parts, 1) };
  },

  after: (c) => {
    const [a, b] = broadcasting(c, 2);
    return { inputs: [{ shape: a }, { shape: b }], build: (g, [x, y]) => g.mul(g.after(x, [g.exp(y)]), y) };
  },

  reduceSum: (c) => {
    const axes = c.chance() ? [0, 2] : [1];
    return { inputs: [{ shape: shapeOf(c, 3) }], build: (g, [a]) => g.reduceSum(a, axes) };
  },
  reduceMax: (c) => {
    const shape = shapeOf(c, 3);
    const turn = c.below(shape[1]);
    const far = {
      shape: [shape[1], 1],
      floats: Float32Array.from({ length: shape[1] }, (_, i) => (i + turn) % shape[1]),
    };
    return {
      inputs: [{ shape, low: -0.2, high: 0.2 }],
      others: { far },
      build: (g, [a]) => g.reduceMax(g.add(a, g.input('far', far.shape)), [1]),
    };
  },
  softmax: (c) => ({ inputs: [{ shape: shapeOf(c) }], build: (g, [a]) => g.softmax(a) }),
  logSoftmax: (c) => ({ inputs: [{ shape: shapeOf(c) }], build: (g, [a]) => g.logSoftmax(a) }),
  matmul: (c) => {
    const [m, k, n] = [c.size(), c.size(), c.size()];
    const flags = { transposeA: c.chance(), transposeB: c.chance() };
    const batches = c.chance() ? [[], []] : broadcasting(c, 2);
    return {
      inputs: [
        { shape: [...batches[0], ...(flags.transposeA ? [k, m] : [m, k])] },
        { shape: [...batches[1], ...(flags.transposeB ? [n, k] : [k, n])] },
      ],
      build: (g, [a, b]) => g.matmul(a, b, flags),
    };
  },

  gather: (c) => {
    const rows = c.size() + 1;
    const indices = indicesBelow(c, rows, [c.size(), 2]);
    return {
      inputs: [{ shape: [rows, 3] }],
      others: { indices },
      build: (g, [table]) => g.gather(table, g.input('indices', indices.shape, 'int32')),
    };
  },
  scatterAddRows: (c) => {
    const indices = indicesBelow(c, 3, [c.size() + 2]);
    return {
      inputs: [{ shape: [indices.shape[0], 2] }],
      others: { indices },
      build: (g, [updates]) => g.scatterAddRows(updates, g.input('indices', indices.shape, 'int32'), 3),
    };
  },
  pick: (c) => {
    const [rows, columns] = [c.size(), c.size()];
    const indices = indicesBelow(c, columns, [rows, 1]);
    return {
      inputs: [{ shape: [rows, columns] }],
      others: { indices },
      build: (g, [values]) => g.pick(values, g.input('indices', indices.shape, 'int32')),
    };
  },
  addAt: (c) => {
    const [rows, columns] = [c.size(), c.size()];
    const indices = indicesBelow(c, columns, [rows, 1]);
    return {
      inputs: [{ shape: [rows, columns] }, { shape: [rows, 1] }],
      others: { indices },
      build: (g, [values, updates]) => g.addAt(values, g.input('indices', indices.shape, 'int32'), updates),
    };
  },

  rotary: (c) => {
    const [rows, time, heads] = [c.size(), c.size(), c.size()];
    const positions = indicesBelow(c, 5, [rows, time]);
    const table = () => ({ shape: [5, 2], floats: Float32Array.from(random(c, [5, 2], -1, 1)) });
    return {
      inputs: [{ shape: [rows, time, heads * 4] }],
      others: { positions: { shape: [rows, time], int64: [...positions.int32] }, cosines: table(), sines: table() },
      build: (g, [x]) =>
        g.rotary(x, g.input('positions', [rows, time], 'int64'), g.input('cosines', [5, 2]), g.input('sines', [5, 2])),
    };
  },
  rmsNorm: (c) => {
    const shape = [c.size(), c.size() + 1];
    return { inputs: [{ shape }, { shape: [shape[1]] }], build: (g, [x, w]) => g.rmsNorm(x, w, 0.1) };
  },
  attend: (c) => {
    const [b, kv, group, s, t, d] = [c.size(), c.size(), c.size(), c.size(), c.size(), c.size()];
    return {
      inputs: [
        { shape: [b, kv, group, s, d] },
        { shape: [b, kv, t, d] },
        { shape: [b, kv, t, d] },
        { shape: [b, 1, 1, s, t] },
      ],
      build: (g, [q, k, v, bias]) => g.attend(q, k, v, bias),
    };
  },
  tokenScores: (c) => {
    const [rows, vocabulary] = [c.size(), c.size() + 1];
    const targets = indicesBelow(c, vocabulary, [rows, 1]);
    return {
      inputs: [{ shape: [rows, vocabulary], low: -2, high: 2 }],
      others: { targets },
      build: (g, [logits]) => g.tokenScores(logits, g.input('targets', [rows, 1], 'int32')),
    };
  },
};

describe('the derivative', () => {
  it.each(Object.entries(cases).flatMap(([op, make]) => (make ? [{ op, make }] : [])))(
    'of $op agrees with central differences',
    async ({ make }) => {
      await fc.assert(
        fc.asyncProperty(fc.integer(), async (seed) => checkAgainstDifferences(make(chanceOf(seed)), seed)),
        { numRuns: 6 },
      );
    },
  );

  it('passes through float16, and is summed over the axes of a broadcast', async () => {
    const graph = new Graph();
    const [a, b] = [graph.input('a', [2, 2]), graph.input('b', [1, 2])];
    const [narrowA, narrowB] = [graph.cast(a, 'float16'), graph.cast(b, 'float16')];
    const product = graph.cast(graph.mul(narrowA, narrowB), 'float32');
    const dProduct = graph.input('dProduct', [2, 2]);
    const [da, db] = gradients(graph, product, dProduct, [a, b]);
    expect([da.dtype, db.dtype]).toEqual(['float32', 'float32']);
    const compiled = await compileGraph(
      new Map([
        ['da', da],
        ['db', db],
      ]),
    );
    const feed = (shape: number[], ...floats: number[]) => ({ shape, floats: Float32Array.from(floats) });
    const found = await compiled.run({
      a: feed([2, 2], 1, 2048, 3, 4),
      b: feed([1, 2], 5, 6),
      dProduct: feed([2, 2], 1, 1, 2, 0.5),
    });
    await compiled.release();
    expect([...found.da]).toEqual([5, 6, 10, 3]);
    expect([...found.db]).toEqual([7, 2050]);
  });

  it('adds up where a tensor is used more than once', async () => {
    const build = (g: Graph, [a]: Tensor[]) => g.mul(g.add(a, g.mul(a, a)), g.exp(a));
    await checkAgainstDifferences({ inputs: [{ shape: [2, 3] }], build }, 7);
  });

  it('of the largest element is shared where several are the largest', async () => {
    const graph = new Graph();
    const a = graph.input('a', [1, 4]);
    const [found] = gradients(graph, graph.reduceMax(a, [1]), graph.constant([6], [1, 1]), [a]);
    const compiled = await compileGraph(new Map([['gradient', found]]));
    const { gradient } = await compiled.run({ a: { shape: [1, 4], floats: Float32Array.of(1, 3, 3, 2) } });
    expect([...gradient]).toEqual([0, 3, 3, 0]);
  });

  it('of a row of the table is the sum over its uses, in the same bits every time', async () => {
    const graph = new Graph();
    const table = graph.input('table', [3, 2]);
    const indices = graph.input('indices', [4], 'int32');
    const outward = graph.input('outward', [4, 2]);
    const [found] = gradients(graph, graph.gather(table, indices), outward, [table]);
    const compiled = await compileGraph(new Map([['gradient', found]]));
    const { gradient } = await compiled.run({
      indices: { shape: [4], int32: Int32Array.of(2, 0, 2, 2) },
      outward: { shape: [4, 2], floats: Float32Array.of(1, 2, 3, 4, 5, 6, 7, 8) },
    });
    expect([...gradient]).toEqual([3, 4, 0, 0, 13, 16]);
  });

  it('keeps little more than the checkpoints where there are some, and is the same to the bit', async () => {
    const layers = 24;
    const stepOf = (hasCheckpoints: boolean) => {
      const graph = new Graph();
      const weights = Array.from({ length: layers }, (_, layer) => graph.input(`w${layer}`, [4, 16]));
      const states = [graph.input('x', ['rows', 4])];
      for (const weight of weights) {
        const [state] = states.slice(-1);
        const inside = graph.silu(graph.matmul(state, weight));
        states.push(graph.add(state, graph.matmul(inside, weight, { transposeB: true })));
      }
      const output = states.pop()!;
      const seed = { output, gradient: graph.input('outward', ['rows', 4]) };
      const found = gradientsOfAll(graph, [seed], weights, hasCheckpoints ? states : []);
      return new Map(found.map((gradient, layer) => [`d${layer}`, gradient!]));
    };
    const chance = chanceOf(3);
    const rows = 5;
    const feeds = Object.fromEntries(
      ['x', 'outward', ...Array.from({ length: layers }, (_, layer) => `w${layer}`)].map((name) => {
        const shape = name.startsWith('w') ? [4, 16] : [rows, 4];
        return [name, { shape, floats: Float32Array.from(random(chance, shape, -0.5, 0.5)) }] as const;
      }),
    );
    const [kept, again] = await Promise.all(
      [false, true].map(async (hasCheckpoints) => {
        const outputs = stepOf(hasCheckpoints);
        const compiled = await compileGraph(outputs);
        const gradients = await compiled.run(feeds);
        await compiled.release();
        return { gradients, live: liveBytes([...outputs.values()], { rows }) };
      }),
    );
    expect(again.gradients).toEqual(kept.gradients);
    expect(again.live).toBeLessThan(0.3 * kept.live);
  });

  it('does not exist for a tensor that the output does not depend on', () => {
    const graph = new Graph();
    const [a, b] = [graph.input('a', [2]), graph.input('b', [2])];
    expect(() => gradients(graph, graph.exp(a), a, [b])).toThrow(/does not depend on.*"b"/);
  });
});

/** Compares the derivative of sum(weights * value) in every element of every input. */
async function checkAgainstDifferences(described: Case, seed: number): Promise<void> {
  const chance = chanceOf(seed ^ 0x5bd1e995);
  const graph = new Graph();
  const inputs = described.inputs.map(({ shape }, index) => graph.input(`x${index}`, shape));
  const value = described.build(graph, inputs);
  const outward = graph.input('outward', value.shape);
  const found = gradients(graph, value, outward, inputs);
  const forward = await compileGraph(new Map([['value', value]]));
  const backward = await compileGraph(new Map(found.map((tensor, index) => [`d${index}`, tensor])));

  const numbers = described.inputs.map(({ shape, low = -1, high = 1 }) =>
    Float32Array.from(random(chance, shape, low, high)),
  );
  const weights = Float32Array.from(random(chance, value.shape.map(Number), -1, 1));
  const feeds = { ...described.others };
  numbers.forEach((floats, index) => (feeds[`x${index}`] = { shape: described.inputs[index].shape, floats }));
  const total = async () => {
    const { value: computed } = await forward.run(feeds);
    return computed.reduce((sum, each, index) => sum + each * weights[index], 0);
  };
  const gradientsFound = await backward.run({ ...feeds, outward: { shape: value.shape.map(Number), floats: weights } });
  const step = 1 / 128;
  for (const [index, floats] of numbers.entries()) {
    for (let i = 0; i < floats.length; i++) {
      const original = floats[i];
      floats[i] = original + step;
      const above = await total();
      floats[i] = original - step;
      const below = await total();
      floats[i] = original;
      const wanted = (above - below) / (2 * step);
      const difference = Math.abs(gradientsFound[`d${index}`][i] - wanted);
      expect(difference, `input ${index}, element ${i}`).toBeLessThan(2e-3 * (1 + Math.abs(wanted)));
    }
  }
  await forward.release();
  await backward.release();
}

function chanceOf(seed: number): Chance {
  let state = seed >>> 0;
  const next = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 4294967296;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  return {
    below,
    size: () => 1 + below(3),
    chance: () => next() < 0.5,
    uniform: (low, high) => low + next() * (high - low),
  };
}

function shapeOf(chance: Chance, rank = 1 + chance.below(3)): number[] {
  return Array.from({ length: rank }, () => chance.size());
}

/** Shapes that broadcast with each other: leading axes left out and sizes set to 1 at random. */
function broadcasting(chance: Chance, count: number): number[][] {
  const full = shapeOf(chance, 3);
  return Array.from({ length: count }, () =>
    full.slice(chance.below(3)).map((size) => (chance.below(3) === 0 ? 1 : size)),
  );
}

function* random(chance: Chance, shape: readonly number[], low: number, high: number): Generator<number> {
  const count = shape.reduce((product, size) => product * size, 1);
  for (let i = 0; i < count; i++) yield chance.uniform(low, high);
}

function indicesBelow(chance: Chance, limit: number, shape: number[]): { shape: number[]; int32: Int32Array } {
  const count = shape.reduce((product, size) => product * size, 1);
  return { shape, int32: Int32Array.from({ length: count }, () => chance.below(limit)) };
}
