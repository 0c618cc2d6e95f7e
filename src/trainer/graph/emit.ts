import { isOp, type Tensor } from './graph.js';
import {
  attributeType,
  elementType,
  encodeModel,
  externalLocation,
  type OnnxAttribute,
  type OnnxNode,
  type OnnxTensor,
  type OnnxValueInfo,
} from './onnxSchema.js';
import type { Op } from './ops.js';
import type { Provider } from './provider.js';
import { terms, type DType, type Dim, type Shape } from './shape.js';
import { topologicalOrder } from './topologicalOrder.js';

/**
 * Writes tensors as an ONNX model whose outputs are named by the map's keys; inputs keep their names. The model runs
 * everywhere; for `provider` it is written with the operators that stay on the device.
 * @param fixed inputs that are given once, when the model is loaded, as external data of their names
 */
export function emitModel(
  outputs: ReadonlyMap<string, Tensor>,
  provider: Provider = 'cpu',
  fixed: ReadonlySet<string> = new Set(),
): Uint8Array {
  const emitter = new Emitter(provider, fixed);
  const order = topologicalOrder([...outputs.values()], emittedInputs);
  order.forEach((tensor) => emitter.declare(tensor));
  order.forEach((tensor) => emitter.emit(tensor));
  return emitter.model(outputs);
}

/** Whether a node, by its name, only computes a shape. */
export const isShapeNode = (name: string): boolean => /^(dim|shape)_e\d+$/.test(name);

/** A composite operation is emitted as its body. */
const emittedInputs = (tensor: Tensor): readonly Tensor[] => (tensor.body ? [tensor.body] : tensor.inputs);

type Attributes = Readonly<Record<string, number | string | readonly number[] | { readonly float: number }>>;
type Lowering<K extends Op> = (emitter: Emitter, tensor: Tensor<K>, inputs: readonly string[]) => void;

const simple =
  (opType: string, attributes: Attributes = {}): Lowering<Op> =>
  (emitter, tensor, inputs) =>
    emitter.node(opType, inputs, emitter.name(tensor), attributes);

const composite: Lowering<Op> = (emitter, tensor) => emitter.alias(tensor, tensor.body!);

const onnxType = (dtype: DType): number => elementType[dtype];

/** How each operation is written in ONNX; total, as the table of derivatives is. */
const lowerings: { readonly [K in Op]: Lowering<K> } = {
  input: () => undefined,
  constant: (emitter, tensor) =>
    emitter.initializer(emitter.name(tensor), tensor.parameters.values, tensor.shape, tensor.dtype),

  add: simple('Add'),
  sub: simple('Sub'),
  mul: simple('Mul'),
  div: simple('Div'),
  neg: simple('Neg'),
  exp: simple('Exp'),
  log: simple('Log'),
  sqrt: simple('Sqrt'),
  sigmoid: simple('Sigmoid'),
  where: simple('Where'),
  equal: simple('Equal'),
  greaterOrEqual: simple('GreaterOrEqual'),
  and: simple('And'),
  cast: (emitter, tensor, inputs) =>
    emitter.node('Cast', inputs, emitter.name(tensor), { to: onnxType(tensor.parameters.to) }),

  reshape: (emitter, tensor, inputs) =>
    emitter.node('Reshape', [...inputs, emitter.reshapeOperand(tensor.shape)], emitter.name(tensor)),
  expand: (emitter, tensor, inputs) =>
    emitter.node('Expand', [...inputs, emitter.shapeOperand(tensor.shape)], emitter.name(tensor)),
  transpose: (emitter, tensor, inputs) =>
    emitter.node('Transpose', inputs, emitter.name(tensor), { perm: tensor.parameters.permutation }),
  slice: (emitter, tensor, inputs) => {
    const { start, end, axis } = tensor.parameters;
    const operands = [emitter.dim(start), emitter.dim(end), emitter.integers([axis])];
    emitter.node('Slice', [...inputs, ...operands], emitter.name(tensor));
  },
  concat: (emitter, tensor, inputs) =>
    emitter.node('Concat', inputs, emitter.name(tensor), { axis: tensor.parameters.axis }),

  reduceSum: (emitter, tensor, inputs) =>
    emitter.node('ReduceSum', [...inputs, emitter.integers(tensor.parameters.axes)], emitter.name(tensor)),
  reduceMax: (emitter, tensor, inputs) =>
    emitter.node('ReduceMax', [...inputs, emitter.integers(tensor.parameters.axes)], emitter.name(tensor)),
  softmax: simple('Softmax', { axis: -1 }),
  // WebGPU has no LogSoftmax.
  logSoftmax: (emitter, tensor, inputs) => {
    const step = (opType: string, operands: readonly string[]) =>
      emitter.node(opType, operands, emitter.fresh('logSoftmax'));
    if (emitter.provider !== 'webgpu') {
      emitter.node('LogSoftmax', inputs, emitter.name(tensor), { axis: -1 });
      return;
    }
    const last = emitter.integers([-1]);
    const shifted = step('Sub', [inputs[0], step('ReduceMax', [inputs[0], last])]);
    const sum = step('ReduceSum', [step('Exp', [shifted]), last]);
    emitter.node('Sub', [shifted, step('Log', [sum])], emitter.name(tensor));
  },
  // Gemm takes the transposes itself; for batches onnxruntime fuses Transpose and MatMul where its provider can.
  matmul: (emitter, tensor, inputs) => {
    const { transposeA, transposeB } = tensor.parameters;
    const [a, b] = tensor.inputs;
    if (a.shape.length === 2 && b.shape.length === 2) {
      const attributes = { transA: Number(transposeA), transB: Number(transposeB) };
      emitter.node('Gemm', inputs, emitter.name(tensor), attributes);
      return;
    }
    const left = transposeA ? emitter.swapLastAxes(a, inputs[0]) : inputs[0];
    const right = transposeB ? emitter.swapLastAxes(b, inputs[1]) : inputs[1];
    emitter.node('MatMul', [left, right], emitter.name(tensor));
  },

  gather: simple('Gather', { axis: 0 }),
  scatterAddRows: (emitter, tensor, inputs) => {
    const [updates] = tensor.inputs;
    const zero = emitter.floats([0], []);
    const zeros = emitter.node('Expand', [zero, emitter.shapeOperand(tensor.shape)], emitter.fresh('zeros'));
    const column = emitter.fresh('column');
    emitter.node('Reshape', [inputs[1], emitter.integers([-1, 1])], column);
    const wide = emitter.node('Expand', [column, emitter.shapeOperand(updates.shape)], emitter.fresh('wide'));
    emitter.node('ScatterElements', [zeros, wide, inputs[0]], emitter.name(tensor), { axis: 0, reduction: 'add' });
  },
  pick: (emitter, tensor, inputs) =>
    emitter.node('GatherElements', inputs, emitter.name(tensor), { axis: tensor.shape.length - 1 }),
  addAt: (emitter, tensor, inputs) =>
    emitter.node('ScatterElements', inputs, emitter.name(tensor), { axis: tensor.shape.length - 1, reduction: 'add' }),

  // A reshape to the shape that it has times a 1, which touches no numbers. The 1 is known only when a slice of each of the others is
  // there, whose end is known only at run time, so that no optimizer sees through it. (A Concat before the Reshape would be fused.)
  after: (emitter, tensor, [x, ...others]) => {
    const [zero, one] = [emitter.integers([0]), emitter.runtimeOne(tensor.shape)];
    const sizes = others.map((other) => {
      const first = emitter.node('Slice', [other, zero, one, zero], emitter.fresh('first'));
      return emitter.node('Shape', [first], emitter.fresh('dim'), { start: 0, end: 1 });
    });
    const times = emitter.node('Min', [emitter.integers([1]), ...sizes], emitter.fresh('dim'));
    const shape = emitter.node('Mul', [emitter.shapeOperand(tensor.shape), times], emitter.fresh('shape'));
    emitter.node('Reshape', [x, shape], emitter.name(tensor));
  },

  rotary: (emitter, tensor, inputs) => {
    const heads = Number(tensor.shape[2]) / (2 * Number(tensor.inputs[2].shape[1]));
    emitter.node('RotaryEmbedding', inputs, emitter.name(tensor), { num_heads: heads }, 'com.microsoft');
  },
  rmsNorm: (emitter, tensor, inputs) =>
    emitter.node('SimplifiedLayerNormalization', inputs, emitter.name(tensor), {
      axis: -1,
      epsilon: { float: tensor.parameters.epsilon },
      stash_type: 1,
    }),

  silu: composite,
  attend: composite,
  tokenScores: composite,
};

class Emitter {
  private readonly nodes: OnnxNode[] = [];
  private readonly initializers = new Map<string, OnnxTensor>();
  private readonly inputs: OnnxValueInfo[] = [];
  private readonly names = new Map<Tensor, string>();
  private readonly dims = new Map<string, string>();
  /** Where a symbol can be read off at run time: an input, and one of its axes that is `times` the symbol. */
  private readonly symbols = new Map<
    string,
    { readonly input: string; readonly axis: number; readonly times: number }
  >();
  private count = 0;

  constructor(
    readonly provider: Provider,
    private readonly fixed: ReadonlySet<string>,
  ) {}

  declare(tensor: Tensor): void {
    if (!isOp(tensor, 'input')) {
      this.names.set(tensor, `${tensor.op}_${tensor.id}`);
      return;
    }
    const { name } = tensor.parameters;
    this.names.set(tensor, name);
    if (this.fixed.has(name)) {
      const [dims, dataType] = [tensor.shape.map(Number), onnxType(tensor.dtype)];
      const externalData = [{ key: 'location', value: name }] as const;
      this.initializers.set(name, { name, dims, dataType, externalData, dataLocation: externalLocation });
      return;
    }
    this.inputs.push(valueInfo(name, tensor));
    tensor.shape.forEach((dim, axis) => {
      const [first, ...others] = terms(dim);
      const [symbol, ...factors] = first?.symbols ?? [];
      if (symbol && factors.length === 0 && others.length === 0 && !this.symbols.has(symbol))
        this.symbols.set(symbol, { input: name, axis, times: first.number });
    });
  }

  emit<K extends Op>(tensor: Tensor<K>): void {
    lowerings[tensor.op](this, tensor, tensor.body ? [] : tensor.inputs.map((input) => this.name(input)));
  }

  model(outputs: ReadonlyMap<string, Tensor>): Uint8Array {
    const output: OnnxValueInfo[] = [];
    for (const [name, tensor] of outputs) {
      this.node('Identity', [this.name(tensor)], name);
      output.push(valueInfo(name, tensor));
    }
    const initializer = [...this.initializers.values()];
    return encodeModel({ name: 'whetstone', node: this.nodes, initializer, input: this.inputs, output });
  }

  name = (tensor: Tensor): string => this.names.get(tensor)!;
  alias = (tensor: Tensor, body: Tensor): void => void this.names.set(tensor, this.name(body));
  fresh = (stem: string): string => `${stem}_e${this.count++}`;

  node(opType: string, input: readonly string[], output: string, attributes: Attributes = {}, domain = ''): string {
    const attribute = Object.entries(attributes).map(([name, value]) => encodeAttribute(name, value));
    this.nodes.push({ input, output: [output], name: output, opType, domain, attribute });
    return output;
  }

  initializer(name: string, values: readonly number[], shape: Shape, dtype: DType): string {
    const rawData = rawBytes(values, dtype);
    this.initializers.set(name, { name, dims: shape.map(Number), dataType: onnxType(dtype), rawData });
    return name;
  }

  integers = (values: readonly number[]): string =>
    this.initializer(`integers_${values.join('_')}`, values, [values.length], 'int64');

  floats = (values: readonly number[], shape: Shape): string =>
    this.initializer(`floats_${values.join('_')}`, values, shape, 'float32');

  swapLastAxes(tensor: Tensor, name: string): string {
    const rank = tensor.shape.length;
    const perm = [...Array(rank - 2).keys(), rank - 1, rank - 2];
    return this.node('Transpose', [name], this.fresh('transposed'), { perm });
  }

  /** Reshape may leave one size to be found out, which spares computing it. */
  reshapeOperand(shape: Shape): string {
    const symbolic = shape.filter((dim) => typeof dim === 'string').length;
    if (symbolic > 1) return this.shapeOperand(shape);
    return this.integers(shape.map((dim) => (typeof dim === 'string' ? -1 : dim)));
  }

  shapeOperand(shape: Shape): string {
    if (shape.every((dim) => typeof dim === 'number')) return this.integers(shape.map(Number));
    const key = `shape ${shape.join()}`;
    const known = this.dims.get(key);
    if (known) return known;
    const name = this.node(
      'Concat',
      shape.map((dim) => this.dim(dim)),
      this.fresh('shape'),
      { axis: 0 },
    );
    this.dims.set(key, name);
    return name;
  }

  /** A size as an int64 tensor [1]. */
  dim(dim: Dim): string {
    const known = this.dims.get(String(dim));
    if (known) return known;
    const name = this.computeDim(dim);
    this.dims.set(String(dim), name);
    return name;
  }

  /** An int64 tensor [1] that is 1; where a size of the shape is known only at run time, so is this. */
  runtimeOne(shape: Shape): string {
    const size = this.dim(shape.find((dim) => typeof dim === 'string') ?? 1);
    const key = `one by ${size}`;
    const one = this.dims.get(key) ?? this.node('Div', [size, size], this.fresh('dim'));
    this.dims.set(key, one);
    return one;
  }

  private computeDim(dim: Dim): string {
    if (typeof dim === 'number') return this.integers([dim]);
    const source = this.symbols.get(dim);
    if (source) {
      const { input, axis, times } = source;
      const size = this.node('Shape', [input], this.fresh('dim'), { start: axis, end: axis + 1 });
      return times === 1 ? size : this.node('Div', [size, this.integers([times])], this.fresh('dim'));
    }
    const join = (opType: string) => (left: string, right: string) =>
      this.node(opType, [left, right], this.fresh('dim'));
    const products = terms(dim).map(({ number, symbols }) => {
      const factors = symbols.map((symbol) => this.symbol(symbol));
      return [...(number === 1 && factors.length > 0 ? [] : [this.integers([number])]), ...factors].reduce(join('Mul'));
    });
    return products.reduce(join('Add'));
  }

  private symbol(symbol: string): string {
    if (!this.symbols.has(symbol)) throw new Error(`internal: no input has the size "${symbol}".`);
    return this.dim(symbol);
  }
}

function valueInfo(name: string, tensor: Tensor): OnnxValueInfo {
  const dim = tensor.shape.map((size) => (typeof size === 'string' ? { dimParam: size } : { dimValue: size }));
  return { name, type: { tensorType: { elemType: onnxType(tensor.dtype), shape: { dim } } } };
}

function encodeAttribute(name: string, value: Attributes[string]): OnnxAttribute {
  if (typeof value === 'number') return { name, type: attributeType.int, i: value };
  if (typeof value === 'string') return { name, type: attributeType.string, s: Buffer.from(value) };
  if ('float' in value) return { name, type: attributeType.float, f: value.float };
  return { name, type: attributeType.ints, ints: value };
}

function rawBytes(values: readonly number[], dtype: DType): Uint8Array {
  const bytes = (array: ArrayBufferView) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  if (dtype === 'float32') return bytes(Float32Array.from(values));
  if (dtype === 'int32') return bytes(Int32Array.from(values));
  if (dtype === 'int64') return bytes(BigInt64Array.from(values.map((value) => BigInt(value))));
  return Uint8Array.from(values);
}
