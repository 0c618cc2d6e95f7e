import { open } from 'node:fs/promises';
import { badInput } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';
import { AppendFile, type WriteBytes } from './appendFile.js';

/** Where the arrays of one trajectory lie in a binary file: byte offset and number of tokens. */
export interface TokenBlock {
  readonly offset: number;
  readonly tokens: number;
}

/** Arrays that go into one block one behind the other, each with one little-endian element a token. */
export type TokenArray = Int32Array | Float32Array | Uint8Array;

/** Appends blocks of token arrays. A block without a JSONL line that names it (a kill came between) is never read. */
export class TokenFile {
  private constructor(private readonly target: AppendFile) {}

  static open(file: string, write?: WriteBytes): TokenFile {
    return new TokenFile(AppendFile.open(file, undefined, write));
  }

  append(arrays: readonly TokenArray[]): TokenBlock {
    const tokens = arrays[0].length;
    if (arrays.some((array) => array.length !== tokens)) {
      throw new Error(`internal: token arrays of lengths ${arrays.map((array) => array.length).join(', ')}`);
    }
    const bytes = Buffer.concat(arrays.map((array) => Buffer.from(array.buffer, array.byteOffset, array.byteLength)));
    return { offset: this.target.append(bytes), tokens };
  }

  close(): void {
    this.target.close();
  }
}

type ArrayOf = { readonly int32: Int32Array; readonly float32: Float32Array; readonly uint8: Uint8Array };
const constructors = { int32: Int32Array, float32: Float32Array, uint8: Uint8Array };

/** Reads a block back as fresh arrays of the kinds that were appended. Throws bad-input where the file is too short or gone. */
export async function readTokenBlock<const K extends readonly (keyof ArrayOf)[]>(
  file: string,
  block: TokenBlock,
  kinds: K,
): Promise<{ [I in keyof K]: ArrayOf[K[I]] }> {
  const size = kinds.reduce((sum, kind) => sum + constructors[kind].BYTES_PER_ELEMENT * block.tokens, 0);
  const remedy = say`The file was changed by something else; restore it or delete the run.`;
  const handle = await open(file, 'r').catch((error: NodeJS.ErrnoException) => {
    throw badInput(say`${file} cannot be read (${String(error.code)}).`, remedy, error);
  });
  let bytes: Uint8Array;
  try {
    const length = (await handle.stat()).size;
    const missing = block.offset + size - length;
    if (missing > 0) {
      throw badInput(say`${file}: ends at byte ${length}, ${missing} bytes short of a recorded trajectory.`, remedy);
    }
    bytes = new Uint8Array(size);
    await handle.read(bytes, 0, size, block.offset);
  } finally {
    await handle.close();
  }
  let offset = 0;
  const arrays = kinds.map((kind) => {
    const Kind = constructors[kind];
    const end = offset + Kind.BYTES_PER_ELEMENT * block.tokens;
    const array = new Kind(bytes.slice(offset, end).buffer);
    offset = end;
    return array;
  });
  return arrays as unknown as { [I in keyof K]: ArrayOf[K[I]] };
}
