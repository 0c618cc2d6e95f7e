import { badInput } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';
import { narrowToFloat16 } from './halfFloats.js';
import { parameterShapes, type LlamaConfig } from './llamaConfig.js';
import { typeOf, type Precision } from './precision.js';

/** A model's parameters by Hugging Face's names, of which the matrices may be kept as the bits of float16. */
export type FrozenParameters = ReadonlyMap<string, Float32Array | Uint16Array>;

/** In what parameters are kept. */
export const precisionOf = (parameters: FrozenParameters): Precision =>
  [...parameters.values()].every((values) => values instanceof Float32Array) ? 'float32' : 'float16';

/** The parameters themselves, to be trained in place: most steps of a weight are less than float16 can tell apart. */
export function trainable(parameters: FrozenParameters): ReadonlyMap<string, Float32Array> {
  if (precisionOf(parameters) !== 'float32') throw new Error('internal: float16 parameters cannot be trained.');
  return parameters as ReadonlyMap<string, Float32Array>;
}

/**
 * The parameters of a model that is not trained itself, its matrices as float16, rounded to nearest. What they are made of is let
 * go one by one, so that `parameters` is empty afterwards. Throws `bad-input` where a number is too large.
 */
export function narrowParameters(config: LlamaConfig, parameters: Map<string, Float32Array>): FrozenParameters {
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
