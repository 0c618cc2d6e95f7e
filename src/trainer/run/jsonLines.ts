import fs from 'node:fs';
import { open } from 'node:fs/promises';
import { badInput } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';
import { AppendFile, type WriteBytes } from './appendFile.js';
import { problemOf } from './problemOf.js';

const newline = 0x0a;
const chunkBytes = 1 << 20;

/** Appends one JSON value a line, each in one write. A last line that was torn by a kill is cut off at opening. */
export class JsonLinesWriter<T> {
  private constructor(private readonly target: AppendFile) {}

  static open<T>(file: string, write?: WriteBytes): JsonLinesWriter<T> {
    return new JsonLinesWriter(AppendFile.open(file, endOfLastLine, write));
  }

  /** Returns where the line lies in the file, in bytes without the newline. */
  append(value: T): { offset: number; length: number } {
    const line = Buffer.from(`${JSON.stringify(value)}\n`);
    return { offset: this.target.append(line), length: line.length - 1 };
  }

  close(): void {
    this.target.close();
  }
}

/** Length of a file's first `length` bytes up to and with their last newline. */
export function endOfLastLine(descriptor: number, length: number): number {
  const chunk = Buffer.alloc(Math.min(length, chunkBytes));
  for (let end = length; end > 0;) {
    const start = Math.max(0, end - chunk.length);
    const bytes = fs.readSync(descriptor, chunk, 0, end - start, start);
    const index = chunk.subarray(0, bytes).lastIndexOf(newline);
    if (index >= 0) return start + index + 1;
    end = start;
  }
  return 0;
}

/** A line that was read: its value and where it lies in the file, in bytes without the newline. */
export interface ReadLine<T> {
  readonly value: T;
  readonly offset: number;
  readonly length: number;
}

/** Reads a file of JSON lines while it grows: every `read` hands over the whole lines that came since the last one. */
export class JsonLinesReader<T> {
  private offset = 0;
  private reading: Promise<unknown> = Promise.resolve();

  constructor(
    readonly file: string,
    private readonly parse: (value: unknown) => T,
  ) {}

  /** Leaves out what comes before an offset; to be called before the first `read`. */
  skipTo(offset: number): void {
    this.offset = offset;
  }

  /**
   * Hands over the whole lines that came since, one after the other; a torn last line is left for later, a missing file has
   * none. Throws bad-input on a broken line.
   */
  read(onLine: (line: ReadLine<T>) => void): Promise<void> {
    const next = this.reading.then(() => this.readOn(onLine));
    this.reading = next.catch(() => undefined);
    return next;
  }

  private async readOn(onLine: (line: ReadLine<T>) => void): Promise<void> {
    const handle = await open(this.file, 'r').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw error;
    });
    if (handle === null) return;
    try {
      const left = (await handle.stat()).size - this.offset;
      const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, Math.max(left, 1)));
      /** What the present line has so far. */
      let parts: Buffer[] = [];
      for (let at = this.offset; ;) {
        const { bytesRead } = await handle.read(chunk, 0, chunk.length, at);
        if (bytesRead === 0) return;
        at += bytesRead;
        const read = chunk.subarray(0, bytesRead);
        let start = 0;
        for (let end = read.indexOf(newline); end >= 0; end = read.indexOf(newline, start)) {
          const line = this.line(Buffer.concat([...parts, read.subarray(start, end)]), this.offset);
          this.offset += line.length + 1;
          onLine(line);
          parts = [];
          start = end + 1;
        }
        parts.push(Buffer.from(read.subarray(start)));
      }
    } finally {
      await handle.close();
    }
  }

  private line(bytes: Buffer, offset: number): ReadLine<T> {
    try {
      return { value: this.parse(JSON.parse(bytes.toString('utf8'))), offset, length: bytes.length };
    } catch (error) {
      throw badInput(
        say`${this.file}: the record at byte ${offset} is broken (${problemOf(error)}).`,
        'The file was changed by something else; restore it or delete the run.',
        error,
      );
    }
  }
}
