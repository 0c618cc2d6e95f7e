import fs from 'node:fs';
import { storageError } from './storage.js';

/** The one call that moves bytes; tests replace it to simulate a failing disk. Returns how many bytes were taken. */
export type WriteBytes = (descriptor: number, bytes: Uint8Array, position: number) => number;

const writeBytes: WriteBytes = (descriptor, bytes, position) =>
  fs.writeSync(descriptor, bytes, 0, bytes.length, position);

/**
 * A file that only grows. Writes are synchronous, so what `append` returned from survives a kill of the process, and
 * two files are written in the order of the calls.
 */
export class AppendFile {
  private constructor(
    readonly file: string,
    private readonly descriptor: number,
    private length: number,
    private readonly write: WriteBytes,
  ) {}

  /** Opens or creates the file. What follows the first `keep` bytes, as told by its present content, is cut off. */
  static open(
    file: string,
    keep: (descriptor: number, length: number) => number = (_, length) => length,
    write: WriteBytes = writeBytes,
  ): AppendFile {
    try {
      const descriptor = fs.openSync(file, fs.constants.O_RDWR | fs.constants.O_CREAT, 0o644);
      const length = fs.fstatSync(descriptor).size;
      const kept = keep(descriptor, length);
      if (kept < length) fs.ftruncateSync(descriptor, kept);
      return new AppendFile(file, descriptor, kept, write);
    } catch (error) {
      throw storageError(error, file);
    }
  }

  /** Returns the offset of the first byte. Where the disk fails, nothing of `bytes` stays and a bad-input error is thrown. */
  append(bytes: Uint8Array): number {
    const start = this.length;
    try {
      for (let written = 0; written < bytes.length;) {
        written += this.write(this.descriptor, bytes.subarray(written), start + written);
      }
    } catch (error) {
      fs.ftruncateSync(this.descriptor, start);
      throw storageError(error, this.file);
    }
    this.length = start + bytes.length;
    return start;
  }

  close(): void {
    fs.closeSync(this.descriptor);
  }
}
