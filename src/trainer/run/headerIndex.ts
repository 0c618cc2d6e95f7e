import { open, stat } from 'node:fs/promises';
import { z } from 'zod';
import { WhetstoneError } from '../../trajectory/errors.js';
import { saidFields } from '../../trajectory/saidSchema.js';
import { HeaderTable, type IndexedHeader } from './headerTable.js';
import { JsonLinesReader } from './jsonLines.js';
import type { RunPaths } from './runDirectory.js';

const count = z.int().nonnegative();
export const indexedHeaderSchema: z.ZodType<IndexedHeader> = z.object({
  header: z.object({
    id: z.string(),
    kind: z.enum(['rollout', 'evaluation', 'demonstration']),
    step: count,
    taskId: z.string(),
    sample: count,
    reward: z.number().nullable(),
    resolved: z.boolean(),
    stopReason: z.string(),
    turns: count,
    tokens: count,
    seconds: z.number(),
    tools: z.array(z.string()),
    infrastructureError: z.string().nullable(),
    infrastructurePhrase: saidFields.phrase,
    sandbox: z.string(),
    origin: z.object({ trajectoryId: z.string(), turn: count }).optional(),
  }),
  offset: count,
  length: count,
});

/**
 * The index of a run's trajectories, so that lists need not read what is a hundred times as large: the headers of the
 * first trajectories, as far as the index tells of every line from the first one on, and where that ends. Empty where there
 * is none, and up to where it is broken: the trajectories themselves are the truth, and are read from where the index ends.
 */
export async function readHeaderIndex(paths: RunPaths): Promise<{ table: HeaderTable; end: number }> {
  const size = await sizeOf(paths.trajectories);
  const table = new HeaderTable();
  const last = await eachInOrder(paths.headers, size, (entry) => table.add(entry));
  if (last === null || (await isThere(paths.trajectories, last))) return { table, end: endOf(last) };
  // Where a crash of the machine lost the end of the trajectories and others were written there, the index goes back
  // behind itself, which ended the loop: only its last entries can tell of what is no more. It is rare, so they may be held.
  const entries: IndexedHeader[] = [];
  await eachInOrder(paths.headers, size, (entry) => entries.push(entry));
  while (entries.length > 0 && !(await isThere(paths.trajectories, entries.at(-1)!))) entries.pop();
  const there = new HeaderTable();
  for (const entry of entries) there.add(entry);
  return { table: there, end: endOf(entries.at(-1) ?? null) };
}

/** Where the line behind the entry's begins. */
export const endOf = (entry: IndexedHeader | null) => (entry === null ? 0 : entry.offset + entry.length + 1);

const sizeOf = (file: string): Promise<number> =>
  stat(file).then(
    (found) => found.size,
    () => 0,
  );

/** Shows the entries that follow one another from the first line of `size` bytes on, and gives the last of them. */
async function eachInOrder(
  file: string,
  size: number,
  onEntry: (entry: IndexedHeader) => void,
): Promise<IndexedHeader | null> {
  let last: IndexedHeader | null = null;
  let isOver = false;
  const lines = new JsonLinesReader(file, (value) => indexedHeaderSchema.parse(value));
  try {
    await lines.read(({ value: entry }) => {
      isOver ||= entry.offset !== endOf(last) || endOf(entry) > size;
      if (isOver) return;
      onEntry(entry);
      last = entry;
    });
  } catch (error) {
    if (!(error instanceof WhetstoneError)) throw error;
  }
  return last;
}

async function isThere(file: string, { header, offset, length }: IndexedHeader): Promise<boolean> {
  const line = Buffer.alloc(length + 1);
  const handle = await open(file, 'r');
  try {
    await handle.read(line, 0, line.length, offset);
  } finally {
    await handle.close();
  }
  return isLineOf(header.id, line.toString('utf8'));
}

/** Whether a whole line of `trajectories.jsonl`, its newline too, is that of this trajectory. */
export const isLineOf = (id: string, line: string) =>
  line.endsWith('}\n') && line.startsWith(`{"id":${JSON.stringify(id)},`);
