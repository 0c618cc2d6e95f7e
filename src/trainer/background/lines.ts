import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

/** Calls `onLine` for every line of the stream. A stream that breaks just ends: its own listeners hear of it. */
export function readLines(input: Readable, onLine: (line: string) => void): void {
  createInterface({ input })
    .on('line', onLine)
    // Node passes the stream's errors on to here, where nobody listening would end the process.
    .on('error', () => undefined);
}
