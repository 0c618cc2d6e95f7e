import { type FileHandle, open } from 'node:fs/promises';
import { badInput, WhetstoneError } from '../../../trajectory/errors.js';
import { say } from '../../../trajectory/said.js';
import { otherTypes, tensorTypes, type TensorType } from './dequantize.js';
import { type GgufHeader, type GgufTensor, type GgufValue, MalformedGguf, parseGgufHeader } from './ggufHeader.js';
import { quoted } from '../quoted.js';

/** Where a tensor lies, checked: first byte and one past the last, from the start of the file. */
export interface GgufEntry {
  readonly type: TensorType;
  readonly shape: readonly number[];
  readonly begin: number;
  readonly end: number;
}

export interface GgufContents {
  readonly metadata: ReadonlyMap<string, GgufValue>;
  readonly tensors: ReadonlyMap<string, GgufEntry>;
}

/** Tokenizers of 256,000 tokens need about 16 MiB. */
const mostHeaderBytes = 1 << 26;
const firstRead = 1 << 20;
/** Node reads less than 2 GiB at once. */
const mostReadBytes = 1 << 30;

/** An open GGUF file; throws `bad-input` where it is not a whole, consistent one. */
export class GgufFile {
  private constructor(
    private readonly file: FileHandle,
    private readonly path: string,
    readonly contents: GgufContents,
  ) {}

  /** Opens a file for as long as `use` runs. */
  static async with<T>(path: string, use: (file: GgufFile) => Promise<T>): Promise<T> {
    let file: FileHandle | undefined;
    try {
      file = await open(path, 'r');
      const fileBytes = (await file.stat()).size;
      return await use(new GgufFile(file, path, checkTensors(await readHeader(file, fileBytes), fileBytes)));
    } catch (error) {
      if (error instanceof WhetstoneError) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      throw badInput(say`Cannot read '${path}': ${reason}.`, 'Fetch the file again, or use another model.', error);
    } finally {
      await file?.close();
    }
  }

  /** A tensor's numbers, row-major. */
  async read(name: string): Promise<Float32Array> {
    const entry = this.contents.tensors.get(name);
    if (entry === undefined) throw new Error(`internal: '${this.path}' has no tensor ${name}`);
    return entry.type.widen(await readBytes(this.file, entry.begin, entry.end - entry.begin));
  }
}

async function readHeader(file: FileHandle, fileBytes: number): Promise<GgufHeader> {
  for (let length = firstRead; ; length *= 4) {
    const given = Math.min(length, fileBytes, mostHeaderBytes);
    const header = parseGgufHeader(await readBytes(file, 0, given));
    if (header !== null) return header;
    if (given === fileBytes) throw new MalformedGguf('it is truncated: its header goes on after its end');
    if (given === mostHeaderBytes) throw new MalformedGguf(`its header is longer than ${mostHeaderBytes} bytes`);
  }
}

function checkTensors(header: GgufHeader, fileBytes: number): GgufContents {
  const tensors = new Map([...header.tensors].map(([name, tensor]) => [name, place(name, tensor, header, fileBytes)]));
  const ordered = [...tensors].sort(([, a], [, b]) => a.begin - b.begin || a.end - b.end);
  let done = header.dataStart;
  for (const [name, { begin, end }] of ordered) {
    if (begin < done) throw new MalformedGguf(`${quoted(name)} overlaps the tensor before it`);
    done = end;
  }
  return { metadata: header.metadata, tensors };
}

function place(name: string, tensor: GgufTensor, header: GgufHeader, fileBytes: number): GgufEntry {
  const type = tensorTypes.get(tensor.type);
  if (type === undefined) {
    const supported = [...tensorTypes.values()].map((each) => each.name).join(', ');
    const named = otherTypes[tensor.type] ?? `of the unknown type ${tensor.type}`;
    throw new MalformedGguf(`${quoted(name)} is ${named}; only ${supported} are read`);
  }
  const { shape, offset } = tensor;
  if (shape.some((size) => size === 0)) throw new MalformedGguf(`${quoted(name)} is [${shape.join(', ')}]`);
  if (shape.at(-1)! % type.block !== 0)
    throw new MalformedGguf(`a row of ${quoted(name)} is ${shape.at(-1)} long, no multiple of ${type.block}`);
  if (offset % header.alignment !== 0)
    throw new MalformedGguf(`${quoted(name)} starts at no multiple of the alignment`);
  const begin = header.dataStart + offset;
  const end = begin + (shape.reduce((product, size) => product * size, 1) / type.block) * type.bytes;
  if (end > fileBytes) throw new MalformedGguf(`it is truncated: ${quoted(name)} ends at byte ${end} of ${fileBytes}`);
  return { type, shape, begin, end };
}

/** A buffer of its own, so that views of wider numbers are aligned. */
async function readBytes(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const bytes = Buffer.from(new ArrayBuffer(length));
  for (let done = 0; done < length;) {
    const { bytesRead } = await file.read(bytes, done, Math.min(length - done, mostReadBytes), position + done);
    if (bytesRead === 0) throw new MalformedGguf('it became shorter while it was read');
    done += bytesRead;
  }
  return bytes;
}
