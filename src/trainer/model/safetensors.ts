/**
 * The safetensors format: a little-endian u64 with the header's length, a JSON header, then the tensors' bytes.
 * https://huggingface.co/docs/safetensors
 */
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { badInput, WhetstoneError } from '../../trajectory/errors.js';
import { say, type Said } from '../../trajectory/said.js';
import { recordOf } from '../firstFault.js';
import { narrowToBfloat16, narrowToFloat16, widenBfloat16, widenFloat16 } from './halfFloats.js';
import { deepestJson, isTooDeep } from './jsonDepth.js';
import { quoted } from './quoted.js';

export type StoredDtype = 'F32' | 'F16' | 'BF16';

/** A tensor in memory, always float32; `dtype` is what the file held. */
export interface StoredTensor {
  readonly dtype: StoredDtype;
  readonly shape: readonly number[];
  readonly data: Float32Array;
}

export interface TensorEntry {
  readonly dtype: string;
  readonly shape: readonly number[];
  /** First byte and one past the last, counted from the start of the file. */
  readonly begin: number;
  readonly end: number;
}

export interface SafetensorsHeader {
  readonly metadata: Readonly<Record<string, string>>;
  readonly tensors: ReadonlyMap<string, TensorEntry>;
}

/** The reference implementation's limit is 100 MB. The largest models in use have some hundred kilobytes in a file. */
const maximumHeaderBytes = 1 << 24;
/** Node reads less than 2 GiB at once. */
const maximumReadBytes = 1 << 30;

const bytesPerElement: Readonly<Record<string, number>> = {
  ...{ F64: 8, I64: 8, U64: 8, F32: 4, I32: 4, U32: 4, F16: 2, BF16: 2, I16: 2, U16: 2 },
  ...{ I8: 1, U8: 1, BOOL: 1, F8_E4M3: 1, F8_E5M2: 1 },
};

/** Many more than any tensor has; a hostile header may give one millions. */
const mostAxes = 64;

const entrySchema = z.object({
  dtype: z.string(),
  shape: z
    .unknown()
    .refine((shape) => Array.isArray(shape) && shape.length <= mostAxes)
    .pipe(z.array(z.int().nonnegative())),
  data_offsets: z.tuple([z.int().nonnegative(), z.int().nonnegative()]),
});

/** Reads every tensor of a file as float32. Throws `bad-input` where the file is not a whole, consistent one. */
export async function readSafetensors(path: string): Promise<Map<string, StoredTensor>> {
  return withFile(path, async (file) => {
    const header = await parseHeader(file, path);
    const tensors = new Map<string, StoredTensor>();
    for (const [name, entry] of header.tensors) {
      if (!isReadable(entry.dtype))
        throw unreadable(path, say`tensor ${quoted(name)} is ${entry.dtype}; only F32, F16 and BF16 are read`);
      const bytes = await readBytes(file, entry.begin, entry.end - entry.begin, path);
      tensors.set(name, { dtype: entry.dtype, shape: entry.shape, data: toFloat32(bytes, entry.dtype) });
    }
    return tensors;
  });
}

/** Reads and checks the header alone: metadata, and where each tensor lies. */
export async function readSafetensorsHeader(path: string): Promise<SafetensorsHeader> {
  return withFile(path, (file) => parseHeader(file, path));
}

/** Writes tensors in the map's order, whole or not at all: a temporary file beside `path`, synced, then renamed. */
export async function writeSafetensors(
  path: string,
  tensors: ReadonlyMap<string, { readonly shape: readonly number[]; readonly data: Float32Array }>,
  options: { readonly dtype?: StoredDtype; readonly metadata?: Readonly<Record<string, string>> } = {},
): Promise<void> {
  const dtype = options.dtype ?? 'F32';
  const entries: Record<string, unknown> = { __metadata__: { format: 'pt', ...options.metadata } };
  let offset = 0;
  for (const [name, { shape, data }] of tensors) {
    if (elementCount(shape) !== data.length)
      throw new Error(`internal: tensor '${name}' holds ${data.length} values, its shape is [${shape.join(', ')}]`);
    const end = offset + data.length * bytesPerElement[dtype]!;
    entries[name] = { dtype, shape, data_offsets: [offset, end] };
    offset = end;
  }
  const json = Buffer.from(JSON.stringify(entries));
  // Spaces after the JSON let the data start at a multiple of 8.
  const header = Buffer.alloc(8 + Math.ceil(json.length / 8) * 8, ' ');
  header.writeBigUInt64LE(BigInt(header.length - 8));
  json.copy(header, 8);
  await writeAtomically(path, async (file) => {
    await writeBytes(file, header);
    for (const { data } of tensors.values()) await writeBytes(file, fromFloat32(data, dtype));
  });
}

async function parseHeader(file: FileHandle, path: string): Promise<SafetensorsHeader> {
  const fileBytes = (await file.stat()).size;
  if (fileBytes < 8) throw unreadable(path, say`it holds ${fileBytes} bytes`);
  const start = await readBytes(file, 0, 8, path);
  if (start.toString('latin1') === 'version ')
    throw unreadable(path, say`it is Git LFS's pointer to the file, not the file`);
  const headerBytes = Number(start.readBigUInt64LE());
  if (headerBytes > maximumHeaderBytes)
    throw unreadable(path, say`its header claims ${headerBytes} bytes, more than ${maximumHeaderBytes}`);
  if (8 + headerBytes > fileBytes)
    throw unreadable(path, say`it is truncated: the header needs ${headerBytes} bytes and the file holds ${fileBytes}`);
  const { __metadata__: metadata, ...entries } = parseJsonObject(await readBytes(file, 8, headerBytes, path), path);
  const tensors = new Map<string, TensorEntry>();
  for (const [name, value] of Object.entries(entries))
    tensors.set(name, checkEntry(name, value, 8 + headerBytes, fileBytes, path));
  checkLayout(tensors, 8 + headerBytes, fileBytes, path);
  const checked = recordOf(z.string()).safeParse(metadata ?? {});
  if (!checked.success) throw unreadable(path, say`__metadata__ is not a map of strings`);
  return { metadata: checked.data, tensors };
}

function parseJsonObject(bytes: Buffer, path: string): Record<string, unknown> {
  if (isTooDeep(bytes)) throw unreadable(path, say`its header is nested more than ${deepestJson} deep`);
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    throw unreadable(path, say`its header is not JSON`, error);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw unreadable(path, say`its header is not a JSON object`);
  return value as Record<string, unknown>;
}

function checkEntry(name: string, value: unknown, dataStart: number, fileBytes: number, path: string): TensorEntry {
  const parsed = entrySchema.safeParse(value);
  if (!parsed.success) throw unreadable(path, say`the entry of tensor ${quoted(name)} is malformed`);
  const { dtype, shape, data_offsets: offsets } = parsed.data;
  const width = bytesPerElement[dtype];
  if (width === undefined) throw unreadable(path, say`tensor ${quoted(name)} has the unknown dtype ${quoted(dtype)}`);
  const [begin, end] = [dataStart + offsets[0], dataStart + offsets[1]];
  const wanted = elementCount(shape) * width;
  if (end - begin !== wanted)
    throw unreadable(
      path,
      say`tensor ${quoted(name)} ${showShape(shape)} needs ${wanted} bytes and has ${end - begin}`,
    );
  if (end > fileBytes)
    throw unreadable(path, say`it is truncated: tensor ${quoted(name)} ends at byte ${end} of ${fileBytes}`);
  return { dtype, shape, begin, end };
}

/** The tensors must tile the data: no overlap, no hole, nothing after the last. */
function checkLayout(tensors: ReadonlyMap<string, TensorEntry>, dataStart: number, fileBytes: number, path: string) {
  let position = dataStart;
  const ordered = [...tensors].sort(([, a], [, b]) => a.begin - b.begin || a.end - b.end);
  for (const [name, { begin, end }] of ordered) {
    if (begin !== position)
      throw unreadable(
        path,
        begin < position
          ? say`tensor ${quoted(name)} overlaps the one before it`
          : say`tensor ${quoted(name)} leaves a hole`,
      );
    position = end;
  }
  if (position !== fileBytes) throw unreadable(path, say`${fileBytes - position} bytes belong to no tensor`);
}

function isReadable(dtype: string): dtype is StoredDtype {
  return dtype === 'F32' || dtype === 'F16' || dtype === 'BF16';
}

function toFloat32(bytes: Buffer, dtype: StoredDtype): Float32Array {
  // `bytes` is a buffer of its own, so it is aligned and no one else writes to it.
  if (dtype === 'F32') return new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
  const bits = new Uint16Array(bytes.buffer, bytes.byteOffset, bytes.length / 2);
  return dtype === 'F16' ? widenFloat16(bits) : widenBfloat16(bits);
}

function fromFloat32(data: Float32Array, dtype: StoredDtype): Uint8Array {
  const values = dtype === 'F32' ? data : dtype === 'F16' ? narrowToFloat16(data) : narrowToBfloat16(data);
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}

/** A hostile shape may have millions of axes. */
export const showShape = (shape: readonly number[]): string =>
  shape.length > 8 ? `[${shape.slice(0, 8).join(', ')}, …]` : `[${shape.join(', ')}]`;

function elementCount(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}

async function withFile<T>(path: string, use: (file: FileHandle) => Promise<T>): Promise<T> {
  let file: FileHandle | undefined;
  try {
    // Opening a pipe would wait for ever.
    if (!(await stat(path)).isFile()) throw new Error('it is a folder, a device or a pipe');
    file = await open(path, 'r');
    return await use(file);
  } catch (error) {
    throw error instanceof WhetstoneError ? error : unreadable(path, reasonOf(error), error);
  } finally {
    await file?.close();
  }
}

async function readBytes(file: FileHandle, position: number, length: number, path: string): Promise<Buffer> {
  const bytes = Buffer.from(new ArrayBuffer(length));
  for (let done = 0; done < length;) {
    const { bytesRead } = await file.read(bytes, done, Math.min(length - done, maximumReadBytes), position + done);
    if (bytesRead === 0) throw unreadable(path, say`it became shorter while it was read`);
    done += bytesRead;
  }
  return bytes;
}

async function writeBytes(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    const { bytesWritten } = await file.write(bytes, done, Math.min(bytes.length - done, maximumReadBytes));
    done += bytesWritten;
  }
}

async function writeAtomically(path: string, write: (file: FileHandle) => Promise<void>): Promise<void> {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    const file = await open(temporary, 'w');
    try {
      await write(file);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw badInput(say`Cannot write '${path}': ${reasonOf(error)}.`, remedyOf(error, dirname(path)), error);
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function remedyOf(error: unknown, folder: string): Said {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'ENOSPC'
    ? say`The disk is full: free some space.`
    : say`Check that '${folder}' exists and is writable.`;
}

function unreadable(path: string, reason: Said | string, cause?: unknown): WhetstoneError {
  return badInput(say`Cannot read '${path}': ${reason}.`, 'Fetch or save the file again.', cause);
}
