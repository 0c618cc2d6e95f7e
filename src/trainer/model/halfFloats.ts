/** Conversions between float32 and the two 16-bit formats of checkpoints. Narrowing rounds to nearest, ties to even. */

const scratch = new DataView(new ArrayBuffer(4));

/** bfloat16 bits (the upper half of a float32) to float32: [count]. */
export function widenBfloat16(bits: Uint16Array): Float32Array {
  const words = new Uint32Array(bits.length);
  for (let i = 0; i < bits.length; i++) words[i] = bits[i]! << 16;
  return new Float32Array(words.buffer);
}

/** float32 to bfloat16 bits: [count]. NaN stays NaN. */
export function narrowToBfloat16(values: Float32Array): Uint16Array {
  const words = new Uint32Array(values.buffer, values.byteOffset, values.length);
  const bits = new Uint16Array(values.length);
  for (let i = 0; i < bits.length; i++) {
    const word = words[i]!;
    const isNaN = (word & 0x7fffffff) > 0x7f800000;
    bits[i] = isNaN ? (word >>> 16) | 0x40 : (word + 0x7fff + ((word >>> 16) & 1)) >>> 16;
  }
  return bits;
}

/** IEEE 754 binary16 bits to float32: [count]. */
export function widenFloat16(bits: Uint16Array): Float32Array {
  const values = new Float32Array(bits.length);
  for (let i = 0; i < bits.length; i++) values[i] = float16Values[bits[i]!]!;
  return values;
}

/** float32 to IEEE 754 binary16 bits: [count]. What is too large becomes infinite. */
export function narrowToFloat16(values: Float32Array): Uint16Array {
  const bits = new Uint16Array(values.length);
  for (let i = 0; i < bits.length; i++) bits[i] = numberToFloat16(values[i]!);
  return bits;
}

/** Every binary16 number by its bits: looking one up is many times faster than working it out. */
export const float16Values = Float32Array.from({ length: 1 << 16 }, (_, bits) => float16ToNumber(bits));

function float16ToNumber(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >>> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0x1f) return fraction ? NaN : sign * Infinity;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

function numberToFloat16(value: number): number {
  scratch.setFloat32(0, value);
  const word = scratch.getUint32(0);
  const sign = (word >>> 16) & 0x8000;
  const magnitude = word & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00;
  // 65520 is halfway between the largest finite value and the next power of two: from there on it is infinite.
  if (magnitude >= 0x477ff000) return sign | 0x7c00;
  // Below 2^-14 the result is subnormal: a whole number of 2^-24 steps.
  if (magnitude < 0x38800000) return sign | roundHalfToEven(Math.abs(value) * 2 ** 24);
  const rounded = magnitude + 0xfff + ((magnitude >>> 13) & 1);
  return sign | ((rounded - 0x38000000) >>> 13);
}

function roundHalfToEven(value: number): number {
  const floor = Math.floor(value);
  const rest = value - floor;
  return rest > 0.5 || (rest === 0.5 && floor % 2 === 1) ? floor + 1 : floor;
}
