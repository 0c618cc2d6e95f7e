import { badInput } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';
import { narrowToFloat16 } from './halfFloats.js';
import { parameterShapes, type LlamaConfig } from './llamaConfig.js';
import type { Tensor } from './onnxRuntime.js';
import { typeOf, type Precision } from './precision.js';

/**
 * A model's parameters by Hugging Face's names, of which the matrices may be kept as the bits of float16, or lie on a device
 * (residentParameters.ts).
 */
export type FrozenParameters = ReadonlyMap<string, Float32Array | Uint16Array | Tensor>;

/** In what parameters are kept. */
export const precisionOf = (parameters: FrozenParameters): Precision =>
  [...parameters.values()].every(
    (values) => values instanceof Float32Array || ('type' in values && values.type === 'float32'),
  )
    ? 'float32'
    : 'float16';

/** How many numbers a parameter has. */
export const countOf = (values: Float32Array | Uint16Array | Tensor): number =>
  ArrayBuffer.isView(values) ? values.length : values.size;

/** The parameters themselves, to be trained in place: most steps of a weight are less than float16 can tell apart. */
export function trainable(parameters: FrozenParameters): ReadonlyMap<string, Float32Array> {
  const isTrainable = [...parameters.values()].every((values) => values instanceof Float32Array);
  if (!isTrainable) throw new Error('internal: parameters in float16, or on a device, cannot be trained.');
  return parameters as ReadonlyMap<string, Float32Array>;
}

/**
 * The parameters of a model that is not trained itself, its matrices as float16, rounded to nearest. What they are made of is let
 * go one by one, so that `parameters` is empty afterwards. Throws `bad-input` where a number is too large.
 */
export function narrowParameters(
  config: LlamaConfig,
  parameters: Map<string, Float32Array>,
): Map<string, Float32Array | Uint16Array> {
  const narrowed = new Map<string, Float32Array | Uint16Array>();
  for (const [name, shape] of parameterShapes(config)) {
    const values = parameters.get(name)!;
    parameters.delete(name);
    narrowed.set(name, typeOf(shape, 'float16') === 'float16' ? narrow(name, values) : values);
  }
  return narrowed;
}

/** From here on rounding gives infinity: halfway between the largest number, 65504, and the next power of two. */
const leastTooLarge = 65_520;

function narrow(name: string, values: Float32Array): Uint16Array {
  const culprit = values.find((value) => Math.abs(value) >= leastTooLarge);
  if (culprit === undefined) return narrowToFloat16(values);
  throw badInput(
    say`The model's parameter "${name}" holds ${culprit}, for which float16 has no number.`,
    'Use --precision float32.',
  );
}
