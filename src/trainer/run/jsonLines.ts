import fs from 'node:fs';
import { open } from 'node:fs/promises';
import { badInput } from '../../trajectory/errors.js';
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

/** Length of the file up to and with its last newline. */
function endOfLastLine(descriptor: number, length: number): number {
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

/** Reads a file of JSON lines while it grows: every `read` returns the whole lines that came since the last one. */
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

  /** New whole lines; a torn last line is left for later, a missing file has none. Throws bad-input on a broken line. */
  read(): Promise<ReadLine<T>[]> {
    const next = this.reading.then(() => this.readOn());
    this.reading = next.catch(() => undefined);
    return next;
  }

  private async readOn(): Promise<ReadLine<T>[]> {
    const lines: ReadLine<T>[] = [];
    const handle = await open(this.file, 'r').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw error;
    });
    if (handle === null) return lines;
    try {
      let rest = Buffer.alloc(0);
      for (let at = this.offset; ;) {
        const chunk = Buffer.alloc(chunkBytes);
        const { bytesRead } = await handle.read(chunk, 0, chunkBytes, at);
        if (bytesRead === 0) return lines;
        at += bytesRead;
        rest = Buffer.concat([rest, chunk.subarray(0, bytesRead)]);
        let start = 0;
        for (let end = rest.indexOf(newline); end >= 0; end = rest.indexOf(newline, start)) {
          lines.push(this.line(rest.subarray(start, end), this.offset));
          this.offset += end + 1 - start;
          start = end + 1;
        }
        rest = rest.subarray(start);
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
        `${this.file}: the record at byte ${offset} is broken (${problemOf(error)}).`,
        'The file was changed by something else; restore it or delete the run.',
        error,
      );
    }
  }
}
