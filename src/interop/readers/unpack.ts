import { Unzip, UnzipInflate, UnzipPassThrough, type UnzipDecoder } from 'fflate';
import { Decompress } from 'fzstd';
import { say } from '../../trajectory/said.js';
import { wrong } from './json.js';

/** Zstandard in a zip (method 93), which newer logs are packed with. */
class ZstandardDecoder implements UnzipDecoder {
  static readonly compression = 93;
  ondata: UnzipDecoder['ondata'] = () => undefined;
  private readonly target = new Decompress((chunk, final) => this.ondata(null, new Uint8Array(chunk), final ?? false));

  push(chunk: Uint8Array, final: boolean): void {
    this.target.push(chunk, final);
  }
}

const sliceBytes = 1 << 16;

/**
 * The files of a zip that are wanted, by name. Throws bad-input where it is broken, or as soon as more than `maxBytes` have come
 * out of it, whatever it says of itself.
 */
export function unpack(
  bytes: Uint8Array,
  isWanted: (name: string) => boolean,
  maxBytes: number,
  where: string,
): ReadonlyMap<string, Uint8Array> {
  const files = new Map<string, Uint8Array>();
  let total = 0;
  let open = 0;
  const archive = new Unzip((file) => {
    if (!isWanted(file.name)) return;
    open += 1;
    const chunks: Uint8Array[] = [];
    file.ondata = (error, chunk, final) => {
      if (error) throw error;
      total += chunk.length;
      if (total > maxBytes) throw new Error(`it holds more than ${maxBytes} bytes`);
      chunks.push(chunk);
      if (!final) return;
      open -= 1;
      files.set(file.name, joined(chunks));
    };
    file.start();
  });
  for (const decoder of [UnzipPassThrough, UnzipInflate, ZstandardDecoder]) archive.register(decoder);
  try {
    // In slices: what unpacks to a thousand times its size is noticed before it has.
    for (let start = 0; start < bytes.length; start += sliceBytes) {
      archive.push(bytes.subarray(start, start + sliceBytes), start + sliceBytes >= bytes.length);
    }
  } catch (error) {
    const reason = (error as Error).message;
    throw wrong(
      where,
      reason.startsWith('it holds') ? { message: reason } : say`it cannot be unpacked (${reason})`,
      error,
    );
  }
  if (open > 0) throw wrong(where, say`it ends in the middle of a file`);
  return files;
}

function joined(chunks: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}
