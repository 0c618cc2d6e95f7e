import { describe, expect, it } from 'vitest';
import { compileGraph } from '../../../test/support/evaluateGraph.js';
import { substitution } from './substitution.js';
import { gradients } from './gradients.js';
import { Graph } from './graph.js';
import { printGraph } from './print.js';
import { addDims, broadcastShapes, divideDim, isNotNegative, multiplyDims } from './shape.js';

describe('shapes', () => {
  it('multiply to one spelling, numbers first and symbols in order', () => {
    expect(multiplyDims(['rows', 4, 'length', 2])).toBe('8*length*rows');
    expect(multiplyDims(['length*rows', 3])).toBe('3*length*rows');
    expect(multiplyDims([2, 3])).toBe(6);
    expect(multiplyDims([])).toBe(1);
    expect(multiplyDims([0, 'rows'])).toBe(0);
  });

  it('add up, and multiply and divide as sums', () => {
    const seen = addDims('past', '4*block');
    expect(seen).toBe('4*block+past');
    expect(addDims('4*block', 'past')).toBe(seen);
    expect(addDims(seen, 'past', -1)).toBe('4*block');
    expect(addDims(seen, seen, -1)).toBe(0);
    expect(multiplyDims(['rows', seen, 2])).toBe('8*block*rows+2*past*rows');
    expect(divideDim(addDims('4*block', 8), 4)).toBe('2+block');
    expect(() => divideDim(seen, 4)).toThrow(/not known to divide/);
    expect(isNotNegative(seen)).toBe(true);
    expect(isNotNegative(addDims('past', '4*block', -1))).toBe(false);
  });

  it('broadcast as in NumPy, a symbol with itself and with 1', () => {
    expect(broadcastShapes([4, 1], ['rows', 1, 3])).toEqual(['rows', 4, 3]);
    expect(broadcastShapes(['rows', 3], [1, 3])).toEqual(['rows', 3]);
    expect(broadcastShapes(['rows'], ['length'])).toBeNull();
    expect(broadcastShapes([2], [3])).toBeNull();
  });
});

describe('the graph', () => {
  it('refuses operands that do not fit, naming the operation, the place and both shapes', () => {
    const graph = new Graph();
    const [a, b] = [graph.input('a', [4, 8]), graph.input('b', [9, 2])];
    const ids = graph.input('ids', [4], 'int32');
    const build = () => graph.at('layer 3', () => graph.at('mlp', () => graph.matmul(a, b)));
    expect(build).toThrow(
      'internal: matmul at layer 3 / mlp of float32[4, 8] and float32[9, 2]: inner sizes 8 and 9 differ.',
    );
    expect(() => graph.add(a, b)).toThrow(/^internal: add of float32\[4, 8\] and float32\[9, 2\]/);
    expect(() => graph.add(ids, graph.input('c', [4]))).toThrow(/int32\[4\] and float32\[4\]: the types differ/);
    expect(() => graph.reshape(a, [5, 6])).toThrow(/another number of elements/);
    expect(() => graph.gather(a, b)).toThrow(/indices are integers/);
    expect(() => graph.slice(a, 1, 3, 9)).toThrow(/3 to 9 is no part of axis 1/);
    expect(() => graph.transpose(a, [0, 0])).toThrow(/no permutation/);
    expect(() => graph.concat([a, b], 0)).toThrow(/differ outside axis 0/);
  });

  it('takes no float16 where many numbers are added up, and narrows what was widened without a trace', () => {
    const graph = new Graph();
    const half = graph.input('half', [2, 3], 'float16');
    expect(() => graph.softmax(half)).toThrow('internal: softmax of float16[2, 3]: it takes no float16.');
    expect(() => graph.reduceSum(half, [1])).toThrow(/reduceSum of float16/);
    expect(() => graph.add(half, graph.input('full', [2, 3]))).toThrow(/the types differ/);
    const wide = graph.cast(half, 'float32');
    expect(graph.cast(wide, 'float16')).toBe(half);
    // The other way round something was lost.
    const full = graph.input('full', [2, 3]);
    const back = graph.cast(graph.cast(full, 'float16'), 'float32');
    expect(back).not.toBe(full);
    expect(back.op).toBe('cast');
  });

  it('makes one tensor of equal operations on equal inputs', () => {
    const graph = new Graph();
    const a = graph.input('a', [2]);
    expect(graph.exp(a)).toBe(graph.exp(a));
    expect(graph.exp(a)).not.toBe(graph.log(a));
    expect(graph.scalar(2)).toBe(graph.scalar(2));
    expect(graph.constant([1, 2], [2])).not.toBe(graph.constant([1, 2], [2, 1]));
  });

  it('puts a tensor in the place of another in what depends on it, in the parts of composites too, and shares the rest', async () => {
    const graph = new Graph();
    const [x, y, w] = [graph.input('x', ['n', 2]), graph.input('y', ['n', 2]), graph.input('w', [2])];
    const apart = graph.exp(w);
    const value = graph.silu(graph.mul(x, apart));
    const substituted = substitution(graph, new Map([[x, y]]));
    expect(substituted(apart)).toBe(apart);
    expect(substituted(value)).toBe(graph.silu(graph.mul(y, apart)));
    const compiled = await compileGraph(new Map([['difference', graph.sub(substituted(value), value)]]));
    const feed = (...floats: number[]) => ({ shape: [1, 2], floats: Float32Array.from(floats) });
    const { difference } = await compiled.run({ x: feed(0, 0), y: feed(0, 1), w: { ...feed(0, 0), shape: [2] } });
    await compiled.release();
    expect(difference[0]).toBe(0);
    expect(difference[1]).toBeCloseTo(1 / (1 + Math.exp(-1)), 6);
  });

  it('waits for tensors that have an axis', () => {
    const graph = new Graph();
    const x = graph.input('x', ['n', 2]);
    expect(graph.after(x, [])).toBe(x);
    expect(() => graph.after(x, [graph.scalar(1)])).toThrow(/after of float32\[\]: a scalar cannot be waited for/);
  });

  it('prints as a listing', () => {
    const graph = new Graph();
    const [x, w] = [graph.input('x', ['tokens', 4]), graph.input('w', [3, 4])];
    const y = graph.silu(graph.matmul(x, w, { transposeB: true }));
    const [dw] = gradients(graph, y, graph.input('dy', y.shape), [w]);
    expect(
      printGraph(
        new Map([
          ['y', y],
          ['dw', dw],
        ]),
      ),
    ).toMatchInlineSnapshot(`
      "%0 = input() {"name":"x"} : float32[tokens, 4]
      %1 = input() {"name":"w"} : float32[3, 4]
      %2 = matmul(%0, %1) {"transposeB":true} : float32[tokens, 3]
      %3 = silu(%2) : float32[tokens, 3]
      %4 = input() {"name":"dy"} : float32[tokens, 3]
      %5 = sigmoid(%2) : float32[tokens, 3]
      %6 = mul(%3, %5) : float32[tokens, 3]
      %7 = sub(%3, %6) : float32[tokens, 3]
      %8 = add(%5, %7) : float32[tokens, 3]
      %9 = mul(%4, %8) : float32[tokens, 3]
      %10 = matmul(%9, %0) {"transposeA":true} : float32[3, 4]
      y: %3
      dw: %10"
    `);
  });

  it('joins and cuts axes whose sizes are sums of symbols', async () => {
    const graph = new Graph();
    const [past, now] = [graph.input('past', ['past', 2]), graph.input('now', ['2*half', 2])];
    const all = graph.concat([past, now], 0);
    expect(all.shape).toEqual(['2*half+past', 2]);
    expect(() => graph.slice(all, 0, 0, 'other')).toThrow(/0 to other is no part of axis 0/);
    const first = graph.slice(all, 0, 0, addDims('past', 'half'));
    const [gradient] = gradients(graph, first, first, [now]);
    const twice = graph.expand(graph.reshape(first, [1, 'half+past', 2]), [2, 'half+past', 2]);
    const compiled = await compileGraph(
      new Map([
        ['gradient', gradient],
        ['twice', twice],
      ]),
    );
    const feed = (...floats: number[]) => ({ shape: [floats.length / 2, 2], floats: Float32Array.from(floats) });
    const found = await compiled.run({ past: feed(1, 2), now: feed(3, 4, 5, 6) });
    await compiled.release();
    expect([...found.gradient]).toEqual([3, 4, 0, 0]);
    expect([...found.twice]).toEqual([1, 2, 3, 4, 1, 2, 3, 4]);
  });

  it('runs at any size of its symbols, shapes computed on the way', async () => {
    const graph = new Graph();
    const x = graph.input('x', ['rows', 'length', 4]);
    const byHalf = graph.transpose(graph.reshape(x, ['rows', 'length', 2, 2]), [0, 2, 1, 3]);
    const back = graph.reshape(graph.transpose(byHalf, [0, 2, 1, 3]), ['length*rows', 4]);
    const ones = graph.expand(graph.scalar(1), ['length*rows', 4]);
    const compiled = await compileGraph(new Map([['sum', graph.add(back, ones)]]));
    for (const [rows, length] of [
      [1, 1],
      [3, 2],
      [2, 5],
    ]) {
      const floats = Float32Array.from({ length: rows * length * 4 }, (_, index) => index);
      const { sum } = await compiled.run({ x: { shape: [rows, length, 4], floats } });
      expect([...sum]).toEqual([...floats].map((value) => value + 1));
    }
  });
});
