import { float16Values, widenBfloat16, widenFloat16 } from '../halfFloats.js';

/** A way in which ggml keeps numbers (ggml-quants.c): in blocks, each with scales of its own. */
export interface TensorType {
  readonly name: string;
  /** Numbers of a block, and its bytes. */
  readonly block: number;
  readonly bytes: number;
  /** Whole blocks to float32. `bytes` starts at a multiple of 4. */
  readonly widen: (bytes: Uint8Array) => Float32Array;
}

const halfOf = (bytes: Uint8Array, at: number): number => float16Values[bytes[at]! | (bytes[at + 1]! << 8)]!;
const signed = (byte: number): number => (byte << 24) >> 24;

/** Makes `widen` out of what writes one block: its first byte, and the first number it becomes. */
function blocks(
  block: number,
  bytes: number,
  write: (source: Uint8Array, from: number, target: Float32Array, to: number) => void,
): Omit<TensorType, 'name'> {
  const widen = (source: Uint8Array) => {
    const count = source.length / bytes;
    const target = new Float32Array(count * block);
    for (let i = 0; i < count; i++) write(source, i * bytes, target, i * block);
    return target;
  };
  return { block, bytes, widen };
}

// Products are rounded to float32 as ggml rounds them, so that the numbers are the same to the bit.
const { fround } = Math;

const q4_0 = blocks(32, 18, (source, from, target, to) => {
  const d = halfOf(source, from);
  for (let i = 0; i < 16; i++) {
    const byte = source[from + 2 + i]!;
    target[to + i] = d * ((byte & 15) - 8);
    target[to + 16 + i] = d * ((byte >> 4) - 8);
  }
});

const q4_1 = blocks(32, 20, (source, from, target, to) => {
  const [d, minimum] = [halfOf(source, from), halfOf(source, from + 2)];
  for (let i = 0; i < 16; i++) {
    const byte = source[from + 4 + i]!;
    target[to + i] = fround(d * (byte & 15)) + minimum;
    target[to + 16 + i] = fround(d * (byte >> 4)) + minimum;
  }
});

const q8_0 = blocks(32, 34, (source, from, target, to) => {
  const d = halfOf(source, from);
  for (let i = 0; i < 32; i++) target[to + i] = d * signed(source[from + 2 + i]!);
});

/** 8 parts of 32 numbers, each with a scale and a minimum of 6 bits; the bits lie in 12 bytes as ggml packs them. */
const q4K = blocks(256, 144, (source, from, target, to) => {
  const [d, dMinimum] = [halfOf(source, from), halfOf(source, from + 2)];
  const packed = (i: number) => source[from + 4 + i]!;
  for (let part = 0; part < 8; part++) {
    const k = part - 4;
    const scale = part < 4 ? packed(part) & 63 : (packed(k + 8) & 15) | ((packed(k) >> 6) << 4);
    const least = part < 4 ? packed(part + 4) & 63 : (packed(k + 8) >> 4) | ((packed(k + 4) >> 6) << 4);
    const [factor, minimum] = [fround(d * scale), fround(dMinimum * least)];
    const quarter = from + 16 + (part >> 1) * 32;
    for (let i = 0; i < 32; i++) {
      const value = (part & 1) === 0 ? source[quarter + i]! & 15 : source[quarter + i]! >> 4;
      target[to + part * 32 + i] = fround(factor * value) - minimum;
    }
  }
});

/** 16 parts of 16 numbers of 6 bits: 4 low ones, then 2 high ones, then the parts' scales. */
const q6K = blocks(256, 210, (source, from, target, to) => {
  const d = halfOf(source, from + 208);
  for (let i = 0; i < 256; i++) {
    const [half, quarter, column] = [i >> 7, (i >> 5) & 3, i & 31];
    const lowByte = source[from + half * 64 + (quarter & 1) * 32 + column]!;
    const low = quarter < 2 ? lowByte & 15 : lowByte >> 4;
    const high = (source[from + 128 + half * 32 + column]! >> (2 * quarter)) & 3;
    const scale = fround(d * signed(source[from + 192 + (i >> 4)]!));
    target[to + i] = scale * ((low | (high << 4)) - 32);
  }
});

const float32 = (bytes: Uint8Array) => new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
const words = (bytes: Uint8Array) => new Uint16Array(bytes.buffer, bytes.byteOffset, bytes.length / 2);

/** By ggml's numbers. */
export const tensorTypes: ReadonlyMap<number, TensorType> = new Map([
  [0, { name: 'F32', block: 1, bytes: 4, widen: float32 }],
  [1, { name: 'F16', block: 1, bytes: 2, widen: (bytes) => widenFloat16(words(bytes)) }],
  [2, { name: 'Q4_0', ...q4_0 }],
  [3, { name: 'Q4_1', ...q4_1 }],
  [8, { name: 'Q8_0', ...q8_0 }],
  [12, { name: 'Q4_K', ...q4K }],
  [14, { name: 'Q6_K', ...q6K }],
  [30, { name: 'BF16', block: 1, bytes: 2, widen: (bytes) => widenBfloat16(words(bytes)) }],
]);

/** Names of types that are not read, for errors. */
export const otherTypes: Readonly<Record<number, string>> = {
  ...{ 6: 'Q5_0', 7: 'Q5_1', 9: 'Q8_1', 10: 'Q2_K', 11: 'Q3_K', 13: 'Q5_K', 15: 'Q8_K', 16: 'IQ2_XXS', 17: 'IQ2_XS' },
  ...{ 18: 'IQ3_XXS', 19: 'IQ1_S', 20: 'IQ4_NL', 21: 'IQ3_S', 22: 'IQ2_S', 23: 'IQ4_XS', 24: 'I8', 25: 'I16' },
  ...{ 26: 'I32', 27: 'I64', 28: 'F64', 29: 'IQ1_M', 34: 'TQ1_0', 35: 'TQ2_0', 39: 'MXFP4' },
};
