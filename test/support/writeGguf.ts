/** Makes GGUF files by hand, also wrong ones. */

/** A number that is whole and not negative becomes an u32, any other an f32, as does one in `float32`. */
export type GgufValue =
  | string
  | number
  | boolean
  | readonly string[]
  | readonly number[]
  | { readonly float32: number }
  | { readonly int32s: readonly number[] };

interface Tensor {
  /** ggml's number; 0 is F32. */
  readonly type?: number;
  /** Row-major. */
  readonly shape: readonly number[];
  readonly bytes: Uint8Array;
  /** In place of the next free one. */
  readonly offset?: number;
}

const u32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value >>> 0);
  return bytes;
};
const u64 = (value: number | bigint) => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
};
const f32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return bytes;
};
const text = (value: string) => Buffer.concat([u64(Buffer.byteLength(value)), Buffer.from(value)]);

function scalar(value: string | number | boolean): [type: number, bytes: Buffer] {
  if (typeof value === 'string') return [8, text(value)];
  if (typeof value === 'boolean') return [7, Buffer.of(Number(value))];
  return Number.isInteger(value) && value >= 0 ? [4, u32(value)] : [6, f32(value)];
}

function valueBytes(value: GgufValue): Buffer {
  if (typeof value !== 'object') {
    const [type, bytes] = scalar(value);
    return Buffer.concat([u32(type), bytes]);
  }
  if ('float32' in value) return Buffer.concat([u32(6), f32(value.float32)]);
  if ('int32s' in value)
    return Buffer.concat([u32(9), u32(5), u64(value.int32s.length), Buffer.from(Int32Array.from(value.int32s).buffer)]);
  const elements = value.map(scalar);
  return Buffer.concat([
    u32(9),
    u32(elements[0]?.[0] ?? 4),
    u64(elements.length),
    ...elements.map(([, bytes]) => bytes),
  ]);
}

/** A whole file, version 3, alignment 32. */
export function ggufBytes(
  metadata: Readonly<Record<string, GgufValue>>,
  tensors: Readonly<Record<string, Tensor>>,
): Buffer {
  const entries = Object.entries(metadata).flatMap(([key, value]) => [text(key), valueBytes(value)]);
  const infos: Buffer[] = [];
  const data: Uint8Array[] = [];
  let free = 0;
  for (const [name, { type = 0, shape, bytes, offset }] of Object.entries(tensors)) {
    const sizes = [...shape].reverse().map(u64);
    infos.push(text(name), u32(shape.length), ...sizes, u32(type), u64(offset ?? free));
    const padding = Buffer.alloc(-bytes.length & 31);
    data.push(bytes, padding);
    free += bytes.length + padding.length;
  }
  const counts = [u64(Object.keys(tensors).length), u64(Object.keys(metadata).length)];
  const header = Buffer.concat([Buffer.from('GGUF'), u32(3), ...counts, ...entries, ...infos]);
  return Buffer.concat([header, Buffer.alloc((32 - (header.length % 32)) % 32), ...data]);
}

export const float32Bytes = (values: readonly number[]): Uint8Array => new Uint8Array(Float32Array.from(values).buffer);
