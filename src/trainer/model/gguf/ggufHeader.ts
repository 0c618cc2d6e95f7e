/**
 * The header of a GGUF file: metadata, and where each tensor lies
 * (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md; little-endian, versions 2 and 3).
 */
import { quoted } from '../quoted.js';

export type GgufValue = number | boolean | string | readonly (number | boolean | string)[];

export interface GgufTensor {
  /** ggml's number of the type. */
  readonly type: number;
  /** Row-major as everywhere here: the file's own order reversed. */
  readonly shape: readonly number[];
  /** First byte, counted from the start of the tensors' data. */
  readonly offset: number;
}

export interface GgufHeader {
  readonly metadata: ReadonlyMap<string, GgufValue>;
  readonly tensors: ReadonlyMap<string, GgufTensor>;
  /** Where the tensors' data starts, in bytes from the start of the file; tensors start at multiples of `alignment`. */
  readonly dataStart: number;
  readonly alignment: number;
}

/** The file is not what it should be; the message is a clause for an error that names the file. */
export class MalformedGguf extends Error {}

/** The header goes on after the bytes that were given. */
class Incomplete extends Error {}

const mostEntries = 1 << 16;
/** Of all lists together; a tokenizer of 262,000 tokens has some 1.3 million. */
const mostElements = 1 << 22;
const mostDimensions = 4;

/** Parses a header at the start of `bytes`; null where it goes on after them. Throws MalformedGguf; reads nothing else. */
export function parseGgufHeader(bytes: Buffer): GgufHeader | null {
  try {
    return readHeader(new Cursor(bytes));
  } catch (error) {
    if (error instanceof Incomplete) return null;
    throw error;
  }
}

function readHeader(cursor: Cursor): GgufHeader {
  if (cursor.take(4).toString('latin1') !== 'GGUF')
    throw new MalformedGguf('it does not start with GGUF (a model in Hugging Face layout is named by its folder)');
  const version = cursor.u32();
  if (version === 0x03000000 || version === 0x02000000) throw new MalformedGguf('it is big-endian');
  if (version !== 2 && version !== 3) throw new MalformedGguf(`its version is ${version}, supported are 2 and 3`);
  const tensorCount = cursor.count('tensors', mostEntries);
  const entryCount = cursor.count('entries', mostEntries);
  const metadata = new Map<string, GgufValue>();
  for (let i = 0; i < entryCount; i++) {
    const key = cursor.text('a key', 1 << 16);
    if (metadata.has(key)) throw new MalformedGguf(`it gives ${quoted(key)} twice`);
    metadata.set(key, readValue(cursor, key, cursor.u32()));
  }
  const tensors = new Map<string, GgufTensor>();
  for (let i = 0; i < tensorCount; i++) {
    const name = cursor.text("a tensor's name", 1 << 10);
    if (tensors.has(name)) throw new MalformedGguf(`it holds ${quoted(name)} twice`);
    const dimensions = cursor.u32();
    if (dimensions < 1 || dimensions > mostDimensions)
      throw new MalformedGguf(`${quoted(name)} has ${dimensions} dimensions`);
    const sizes = Array.from({ length: dimensions }, () => cursor.u64(`the size of ${quoted(name)}`));
    const type = cursor.u32();
    tensors.set(name, { type, shape: sizes.reverse(), offset: cursor.u64(`the offset of ${quoted(name)}`) });
  }
  const alignment = metadata.get('general.alignment') ?? 32;
  if (typeof alignment !== 'number' || alignment < 8 || alignment > 1 << 16 || alignment % 8 !== 0)
    throw new MalformedGguf('general.alignment is no multiple of 8');
  return { metadata, tensors, dataStart: Math.ceil(cursor.position / alignment) * alignment, alignment };
}

const arrayType = 9;

/** How each type of a value is read, by the file's number, and the bytes of one. */
const scalars: Readonly<Record<number, readonly [size: number, read: (cursor: Cursor, key: string) => GgufScalar]>> = {
  0: [1, (cursor) => cursor.take(1).readUInt8()],
  1: [1, (cursor) => cursor.take(1).readInt8()],
  2: [2, (cursor) => cursor.take(2).readUInt16LE()],
  3: [2, (cursor) => cursor.take(2).readInt16LE()],
  4: [4, (cursor) => cursor.u32()],
  5: [4, (cursor) => cursor.take(4).readInt32LE()],
  6: [4, (cursor) => cursor.take(4).readFloatLE()],
  7: [1, (cursor) => cursor.take(1).readUInt8() !== 0],
  8: [8, (cursor, key) => cursor.text(quoted(key), 1 << 24)],
  10: [8, (cursor, key) => cursor.u64(quoted(key))],
  11: [8, (cursor) => Number(cursor.take(8).readBigInt64LE())],
  12: [8, (cursor) => cursor.take(8).readDoubleLE()],
};

type GgufScalar = number | boolean | string;

function readValue(cursor: Cursor, key: string, type: number): GgufValue {
  const scalar = scalars[type];
  if (scalar) return scalar[1](cursor, key);
  if (type !== arrayType) throw new MalformedGguf(`${quoted(key)} has the unknown type ${type}`);
  const element = scalars[cursor.u32()];
  if (element === undefined) throw new MalformedGguf(`${quoted(key)} is a list of lists or of an unknown type`);
  const count = cursor.count(`elements of ${quoted(key)}`, mostElements - cursor.elements);
  cursor.elements += count;
  // Nothing is allocated for elements that the bytes cannot hold.
  cursor.need(count * element[0]);
  return Array.from({ length: count }, () => element[1](cursor, key));
}

class Cursor {
  position = 0;
  /** Of the lists that were read. */
  elements = 0;

  constructor(private readonly bytes: Buffer) {}

  need(length: number): void {
    if (length > this.bytes.length - this.position) throw new Incomplete();
  }

  take(length: number): Buffer {
    this.need(length);
    this.position += length;
    return this.bytes.subarray(this.position - length, this.position);
  }

  u32(): number {
    return this.take(4).readUInt32LE();
  }

  u64(what: string): number {
    const value = this.take(8).readBigUInt64LE();
    if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new MalformedGguf(`${what} is ${value}`);
    return Number(value);
  }

  count(what: string, most: number): number {
    const count = this.u64(`its number of ${what}`);
    if (count > most) throw new MalformedGguf(`it claims ${count} ${what}, more than ${most}`);
    return count;
  }

  text(what: string, most: number): string {
    const length = this.u64(`the length of ${what}`);
    if (length > most) throw new MalformedGguf(`${what} is ${length} bytes long, more than ${most}`);
    return this.take(length).toString('utf8');
  }
}
