import type { Op, OpParameters } from './ops.js';
import {
  addDims,
  broadcastShapes,
  isNotNegative,
  multiplyDims,
  sameShape,
  showShape,
  type DType,
  type Dim,
  type Shape,
} from './shape.js';

/** What adds up many numbers, or leaves float16's range early, is computed in float32 alone: the operand is cast first. */
const float32Only: ReadonlySet<Op> = new Set<Op>([
  'exp',
  'log',
  'sqrt',
  'softmax',
  'logSoftmax',
  'reduceSum',
  'reduceMax',
  'scatterAddRows',
  'rmsNorm',
]);

/** A value of the graph: how it is computed, not its numbers. */
export interface Tensor<K extends Op = Op> {
  readonly id: number;
  readonly op: K;
  readonly parameters: OpParameters[K];
  readonly inputs: readonly Tensor[];
  readonly shape: Shape;
  readonly dtype: DType;
  /** Of a composite operation: the same value in simpler ones. */
  readonly body: Tensor | null;
}

/**
 * Builds tensors. Equal operations on equal inputs are one tensor, so what a derivative asks for again is shared with
 * the forward pass. A wrong shape or type throws at once, naming the operation, the place and both shapes.
 */
export class Graph {
  private readonly known = new Map<string, Tensor>();
  private readonly inputsByName = new Map<string, Tensor>();
  private places: string[] = [];
  private count = 0;

  /** Names the place that errors of `build` are reported at. */
  at<T>(place: string, build: () => T): T {
    this.places.push(place);
    try {
      return build();
    } finally {
      this.places.pop();
    }
  }

  input(name: string, shape: Shape, dtype: DType = 'float32'): Tensor {
    const earlier = this.inputsByName.get(name);
    if (earlier && sameShape(earlier.shape, shape) && earlier.dtype === dtype) return earlier;
    if (earlier) throw this.error('input', [earlier], `"${name}" is already an input of another shape or type`);
    const tensor = this.make('input', { name }, [], shape, dtype);
    this.inputsByName.set(name, tensor);
    return tensor;
  }

  constant(values: readonly number[], shape: Shape, dtype: DType = 'float32'): Tensor {
    if (multiplyDims(shape) !== values.length) {
      throw this.error('constant', [], `${values.length} values do not fill ${showShape(shape)}`);
    }
    return this.make('constant', { values }, [], shape, dtype);
  }

  /** Of another type than float32 it is cast, which the runtime does once. */
  scalar(value: number, dtype: DType = 'float32'): Tensor {
    return this.cast(this.constant([value], []), dtype);
  }

  add = (a: Tensor, b: Tensor) => this.elementwise('add', a, b);
  sub = (a: Tensor, b: Tensor) => this.elementwise('sub', a, b);
  mul = (a: Tensor, b: Tensor) => this.elementwise('mul', a, b);
  div = (a: Tensor, b: Tensor) => this.elementwise('div', a, b);
  neg = (a: Tensor) => this.unary('neg', a);
  exp = (a: Tensor) => this.unary('exp', a);
  log = (a: Tensor) => this.unary('log', a);
  sqrt = (a: Tensor) => this.unary('sqrt', a);
  sigmoid = (a: Tensor) => this.unary('sigmoid', a);
  softmax = (a: Tensor) => this.unary('softmax', a);
  logSoftmax = (a: Tensor) => this.unary('logSoftmax', a);
  equal = (a: Tensor, b: Tensor) => this.compare('equal', a, b);
  greaterOrEqual = (a: Tensor, b: Tensor) => this.compare('greaterOrEqual', a, b);

  and(a: Tensor, b: Tensor): Tensor {
    if (a.dtype !== 'bool' || b.dtype !== 'bool') throw this.error('and', [a, b], 'both must be bool');
    return this.make('and', {}, [a, b], this.broadcast('and', a, b), 'bool');
  }

  where(condition: Tensor, whenTrue: Tensor, whenFalse: Tensor): Tensor {
    if (condition.dtype !== 'bool') throw this.error('where', [condition], 'the condition must be bool');
    this.sameType('where', whenTrue, whenFalse);
    const values = this.broadcast('where', whenTrue, whenFalse);
    const shape = broadcastShapes(condition.shape, values);
    if (!shape) throw this.error('where', [condition, whenTrue, whenFalse], 'the shapes do not broadcast');
    return this.make('where', {}, [condition, whenTrue, whenFalse], shape, whenTrue.dtype);
  }

  cast(a: Tensor, to: DType): Tensor {
    if (a.dtype === to) return a;
    // What was widened is narrowed again without loss.
    if (a.op === 'cast' && a.dtype === 'float32' && a.inputs[0].dtype === to && to === 'float16') return a.inputs[0];
    return this.make('cast', { to }, [a], a.shape, to);
  }

  reshape(a: Tensor, shape: Shape): Tensor {
    if (sameShape(a.shape, shape)) return a;
    if (multiplyDims(a.shape) !== multiplyDims(shape)) {
      throw this.error('reshape', [a], `${showShape(shape)} holds another number of elements`);
    }
    const source = a.op === 'reshape' ? a.inputs[0] : a;
    if (sameShape(source.shape, shape)) return source;
    return this.make('reshape', { shape }, [source], shape, a.dtype);
  }

  expand(a: Tensor, shape: Shape): Tensor {
    if (sameShape(a.shape, shape)) return a;
    const result = broadcastShapes(a.shape, shape);
    if (!result || !sameShape(result, shape)) {
      throw this.error('expand', [a], `it does not broadcast to ${showShape(shape)}`);
    }
    return this.make('expand', { shape }, [a], shape, a.dtype);
  }

  transpose(a: Tensor, permutation: readonly number[]): Tensor {
    const isPermutation = [...permutation].sort((x, y) => x - y).every((axis, index) => axis === index);
    if (permutation.length !== a.shape.length || !isPermutation) {
      throw this.error('transpose', [a], `[${permutation.join(', ')}] is no permutation of its axes`);
    }
    const shape = permutation.map((axis) => a.shape[axis]);
    return this.make('transpose', { permutation }, [a], shape, a.dtype);
  }

  /** Elements start (included) to end (not included) of an axis, which must be inside whatever the symbols are. */
  slice(a: Tensor, axis: number, start: Dim, end: Dim): Tensor {
    const size = addDims(end, start, -1);
    const after = addDims(a.shape[axis], end, -1);
    if (size === 0 || ![start, size, after].every(isNotNegative)) {
      throw this.error('slice', [a], `${start} to ${end} is no part of axis ${axis}`);
    }
    const shape = a.shape.map((dim, index) => (index === axis ? size : dim));
    return sameShape(shape, a.shape) ? a : this.make('slice', { axis, start, end }, [a], shape, a.dtype);
  }

  concat(parts: readonly Tensor[], axis: number): Tensor {
    const [first] = parts;
    const rest = (tensor: Tensor) => tensor.shape.map((dim, index) => (index === axis ? 0 : dim));
    if (axis >= first.shape.length || parts.some((part) => !sameShape(rest(part), rest(first)))) {
      throw this.error('concat', parts, `the shapes differ outside axis ${axis}`);
    }
    parts.forEach((part) => this.sameType('concat', first, part));
    const joined = parts.reduce<Dim>((total, part) => addDims(total, part.shape[axis]), 0);
    const shape = first.shape.map((dim, index) => (index === axis ? joined : dim));
    return parts.length === 1 ? first : this.make('concat', { axis }, parts, shape, first.dtype);
  }

  reduceSum = (a: Tensor, axes: readonly number[]) => this.reduce('reduceSum', a, axes);
  reduceMax = (a: Tensor, axes: readonly number[]) => this.reduce('reduceMax', a, axes);

  matmul(a: Tensor, b: Tensor, flags: { transposeA?: boolean; transposeB?: boolean } = {}): Tensor {
    const { transposeA = false, transposeB = false } = flags;
    const ranks = [a.shape.length, b.shape.length];
    if (ranks[0] < 2 || ranks[1] < 2) throw this.error('matmul', [a, b], 'both need at least two axes');
    this.sameType('matmul', a, b);
    const [m, k] = [a.shape.at(transposeA ? -1 : -2)!, a.shape.at(transposeA ? -2 : -1)!];
    const [inner, n] = [b.shape.at(transposeB ? -1 : -2)!, b.shape.at(transposeB ? -2 : -1)!];
    const batch = broadcastShapes(a.shape.slice(0, -2), b.shape.slice(0, -2));
    if (k !== inner || !batch) {
      const reason = batch ? `inner sizes ${k} and ${inner} differ` : 'the batch axes do not broadcast';
      const as = `${transposeA ? ', first transposed' : ''}${transposeB ? ', second transposed' : ''}`;
      throw this.error('matmul', [a, b], reason + as);
    }
    return this.make('matmul', { transposeA, transposeB }, [a, b], [...batch, m, n], a.dtype);
  }

  gather(table: Tensor, indices: Tensor): Tensor {
    this.indices('gather', indices);
    return this.make('gather', {}, [table, indices], [...indices.shape, ...table.shape.slice(1)], table.dtype);
  }

  scatterAddRows(updates: Tensor, indices: Tensor, rows: Dim): Tensor {
    this.indices('scatterAddRows', indices);
    if (updates.shape.length !== 2 || !sameShape(indices.shape, updates.shape.slice(0, 1))) {
      throw this.error('scatterAddRows', [updates, indices], 'updates must be [count, width] and indices [count]');
    }
    return this.make('scatterAddRows', { rows }, [updates, indices], [rows, updates.shape[1]], updates.dtype);
  }

  pick(values: Tensor, indices: Tensor): Tensor {
    this.onePerRow('pick', values, indices);
    return this.make('pick', {}, [values, indices], indices.shape, values.dtype);
  }

  addAt(values: Tensor, indices: Tensor, updates: Tensor): Tensor {
    this.onePerRow('addAt', values, indices);
    if (!sameShape(indices.shape, updates.shape)) {
      throw this.error('addAt', [indices, updates], 'updates and indices must have one shape');
    }
    return this.make('addAt', {}, [values, indices, updates], values.shape, values.dtype);
  }

  /** `x` as it is, for what must not be computed before `others` are: they have at least one axis. */
  after(x: Tensor, others: readonly Tensor[]): Tensor {
    const scalar = others.find(({ shape }) => shape.length === 0);
    if (scalar) throw this.error('after', [scalar], 'a scalar cannot be waited for');
    return others.length === 0 ? x : this.make('after', {}, [x, ...others], x.shape, x.dtype);
  }

  rotary(x: Tensor, positions: Tensor, cosines: Tensor, sines: Tensor): Tensor {
    const half = cosines.shape[1];
    const width = x.shape[2];
    const divides = typeof half === 'number' && typeof width === 'number' && width % (2 * half) === 0;
    if (x.shape.length !== 3 || !divides || !sameShape(cosines.shape, sines.shape)) {
      throw this.error('rotary', [x, cosines, sines], 'x must be [rows, time, heads * 2 * table width]');
    }
    if (positions.dtype !== 'int64' || !sameShape(positions.shape, x.shape.slice(0, 2))) {
      throw this.error('rotary', [x, positions], 'positions must be int64 [rows, time]');
    }
    return this.make('rotary', {}, [x, positions, cosines, sines], x.shape, x.dtype);
  }

  rmsNorm(x: Tensor, weight: Tensor, epsilon: number): Tensor {
    if (!sameShape(weight.shape, x.shape.slice(-1))) {
      throw this.error('rmsNorm', [x, weight], 'the weight must fit the last axis');
    }
    return this.make('rmsNorm', { epsilon }, [x, weight], x.shape, x.dtype);
  }

  silu(a: Tensor): Tensor {
    return this.make('silu', {}, [a], a.shape, a.dtype, this.mul(a, this.sigmoid(a)));
  }

  /** Products in the type of queries, keys and values; the softmax, and the bias, are float32. */
  attend(queries: Tensor, keys: Tensor, values: Tensor, bias: Tensor): Tensor {
    const [b, kv, group, s, d] = queries.shape;
    if (queries.shape.length !== 5 || !sameShape(keys.shape, values.shape)) {
      throw this.error('attend', [queries, keys, values], 'queries must have five axes, keys and values one shape');
    }
    const body = this.at('attend', () => {
      const rows = multiplyDims([group, s]);
      const products = this.matmul(this.reshape(queries, [b, kv, rows, d]), keys, { transposeB: true });
      const t = keys.shape[2];
      const scores = this.cast(this.reshape(products, [b, kv, group, s, t]), 'float32');
      const weights = this.cast(this.softmax(this.add(scores, bias)), values.dtype);
      return this.reshape(this.matmul(this.reshape(weights, [b, kv, rows, t]), values), [b, kv, group, s, d]);
    });
    return this.make('attend', {}, [queries, keys, values, bias], body.shape, body.dtype, body);
  }

  tokenScores(logits: Tensor, targets: Tensor): Tensor {
    const body = this.at('tokenScores', () => {
      const logprobs = this.logSoftmax(logits);
      const entropies = this.neg(this.reduceSum(this.mul(this.exp(logprobs), logprobs), [1]));
      return this.concat([this.pick(logprobs, targets), entropies], 1);
    });
    return this.make('tokenScores', {}, [logits, targets], body.shape, body.dtype, body);
  }

  /** The same operation on other operands, of the same shapes and types. */
  again(tensor: Tensor, inputs: readonly Tensor[], body: Tensor | null): Tensor {
    return this.make(tensor.op, tensor.parameters, inputs, tensor.shape, tensor.dtype, body);
  }

  private unary(op: 'neg' | 'exp' | 'log' | 'sqrt' | 'sigmoid' | 'softmax' | 'logSoftmax', a: Tensor): Tensor {
    if (a.dtype === 'bool') throw this.error(op, [a], 'it takes numbers');
    return this.make(op, {}, [a], a.shape, a.dtype);
  }

  private elementwise(op: 'add' | 'sub' | 'mul' | 'div', a: Tensor, b: Tensor): Tensor {
    this.sameType(op, a, b);
    return this.make(op, {}, [a, b], this.broadcast(op, a, b), a.dtype);
  }

  private compare(op: 'equal' | 'greaterOrEqual', a: Tensor, b: Tensor): Tensor {
    this.sameType(op, a, b);
    return this.make(op, {}, [a, b], this.broadcast(op, a, b), 'bool');
  }

  private reduce(op: 'reduceSum' | 'reduceMax', a: Tensor, axes: readonly number[]): Tensor {
    if (axes.length === 0) return a;
    if (axes.some((axis) => axis < 0 || axis >= a.shape.length)) {
      throw this.error(op, [a], `it has not all of the axes [${axes.join(', ')}]`);
    }
    const shape = a.shape.map((dim, axis) => (axes.includes(axis) ? 1 : dim));
    return this.make(op, { axes }, [a], shape, a.dtype);
  }

  private broadcast(op: Op, a: Tensor, b: Tensor): Dim[] {
    const shape = broadcastShapes(a.shape, b.shape);
    if (!shape) throw this.error(op, [a, b], 'the shapes do not broadcast');
    return shape;
  }

  private sameType(op: Op, a: Tensor, b: Tensor): void {
    if (a.dtype !== b.dtype) throw this.error(op, [a, b], 'the types differ');
  }

  private indices(op: Op, indices: Tensor): void {
    if (indices.dtype !== 'int32' && indices.dtype !== 'int64') throw this.error(op, [indices], 'indices are integers');
  }

  private onePerRow(op: Op, values: Tensor, indices: Tensor): void {
    this.indices(op, indices);
    if (!sameShape(indices.shape, [...values.shape.slice(0, -1), 1])) {
      throw this.error(op, [values, indices], 'there must be one index for each row');
    }
  }

  private make<K extends Op>(
    op: K,
    parameters: OpParameters[K],
    inputs: readonly Tensor[],
    shape: Shape,
    dtype: DType,
    body: Tensor | null = null,
  ): Tensor<K> {
    if (dtype === 'float16' && float32Only.has(op)) throw this.error(op, inputs, 'it takes no float16');
    const key = `${op}(${inputs.map((input) => input.id).join()})${JSON.stringify(parameters)}${dtype}${showShape(shape)}`;
    const earlier = this.known.get(key);
    if (earlier) return earlier as Tensor<K>;
    const tensor: Tensor<K> = { id: this.count++, op, parameters, inputs, shape, dtype, body };
    this.known.set(key, tensor as Tensor);
    return tensor;
  }

  private error(op: Op, operands: readonly Tensor[], reason: string): Error {
    const shown = operands.map((tensor) => `${tensor.dtype}${showShape(tensor.shape)}`).join(' and ');
    const place = this.places.length > 0 ? ` at ${this.places.join(' / ')}` : '';
    return new Error(`internal: ${op}${place}${shown ? ` of ${shown}` : ''}: ${reason}.`);
  }
}

export const isOp = <K extends Op>(tensor: Tensor, op: K): tensor is Tensor<K> => tensor.op === op;
