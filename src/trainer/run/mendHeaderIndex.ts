import fs from 'node:fs';
import { endOf, indexedHeaderSchema, isLineOf } from './headerIndex.js';
import type { IndexedHeader } from './headerTable.js';
import { endOfLastLine } from './jsonLines.js';
import type { RunPaths } from './runDirectory.js';
import { storageError } from './storage.js';
import { headerOf, trajectoryLineSchema } from './trajectoryLine.js';

/**
 * Mends the end of a run's index where a kill or a full disk came between a trajectory and its entry, or a crash of the machine
 * lost trajectories that the index tells of: what would be wrong is cut off, what is missing is given back to be appended.
 * Readers would otherwise read every later trajectory whole, for good. The trajectories' torn last line must be cut off before.
 */
export function* mendHeaderIndex(paths: RunPaths): Generator<IndexedHeader> {
  const descriptor = fs.openSync(paths.trajectories, 'r');
  try {
    const size = fs.fstatSync(descriptor).size;
    for (let at = cutToWhatIsThere(paths.headers, descriptor, size); at < size;) {
      const end = endOfLine(descriptor, at, size);
      const entry = headerAt(descriptor, at, end);
      // A broken line is for the reader to tell of.
      if (entry === null) return;
      yield entry;
      at = end;
    }
  } finally {
    fs.closeSync(descriptor);
  }
}

/** Cuts the index behind its last entry that tells of a line that is there, and gives the end of that line. */
function cutToWhatIsThere(file: string, trajectories: number, size: number): number {
  if (!fs.existsSync(file)) return 0;
  const descriptor = openToCut(file);
  try {
    const whole = fs.fstatSync(descriptor).size;
    for (let end = endOfLastLine(descriptor, whole); ;) {
      const start = end === 0 ? 0 : endOfLastLine(descriptor, end - 1);
      const entry = end === 0 ? null : entryOf(read(descriptor, start, end));
      const isThere =
        entry === null
          ? end === 0
          : endOf(entry) <= size && isLineOf(entry.header.id, read(trajectories, entry.offset, endOf(entry)));
      if (isThere) {
        if (end < whole) fs.ftruncateSync(descriptor, end);
        return endOf(entry);
      }
      end = start;
    }
  } finally {
    fs.closeSync(descriptor);
  }
}

function openToCut(file: string): number {
  try {
    return fs.openSync(file, 'r+');
  } catch (error) {
    throw storageError(error, file);
  }
}

function entryOf(line: string): IndexedHeader | null {
  try {
    return indexedHeaderSchema.parse(JSON.parse(line));
  } catch {
    return null;
  }
}

function headerAt(descriptor: number, start: number, end: number): IndexedHeader | null {
  try {
    const header = headerOf(trajectoryLineSchema.parse(JSON.parse(read(descriptor, start, end))));
    return { header, offset: start, length: end - 1 - start };
  } catch {
    return null;
  }
}

function read(descriptor: number, start: number, end: number): string {
  const bytes = Buffer.alloc(end - start);
  fs.readSync(descriptor, bytes, 0, bytes.length, start);
  return bytes.toString('utf8');
}

/** Behind the newline of the line that begins at `start`. */
function endOfLine(descriptor: number, start: number, size: number): number {
  const chunk = Buffer.alloc(1 << 16);
  for (let at = start; at < size; at += chunk.length) {
    const bytes = fs.readSync(descriptor, chunk, 0, chunk.length, at);
    const newline = chunk.subarray(0, bytes).indexOf('\n');
    if (newline >= 0) return at + newline + 1;
  }
  return size;
}
