import { open, stat } from 'node:fs/promises';
import { z } from 'zod';
import { WhetstoneError } from '../../trajectory/errors.js';
import { JsonLinesReader } from './jsonLines.js';
import type { RunPaths } from './runDirectory.js';
import type { TrajectoryHeader } from './runRecord.js';

/** A trajectory's header and where its line lies in `trajectories.jsonl`, in bytes without the newline. */
export interface IndexedHeader {
  readonly header: TrajectoryHeader;
  readonly offset: number;
  readonly length: number;
}

const count = z.int().nonnegative();
const indexedHeaderSchema: z.ZodType<IndexedHeader> = z.object({
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
    sandbox: z.string(),
    origin: z.object({ trajectoryId: z.string(), turn: count }).optional(),
  }),
  offset: count,
  length: count,
});

/**
 * The index of a run's trajectories, so that lists need not read what is a hundred times as large: the headers of the
 * first trajectories, as far as the index tells of every line from the first one on. Empty where there is none, and where
 * it is broken: the trajectories themselves are the truth, and are read from where the index ends.
 */
export async function readHeaderIndex(paths: RunPaths): Promise<{ entries: readonly IndexedHeader[]; end: number }> {
  const size = await stat(paths.trajectories).then(
    (found) => found.size,
    () => 0,
  );
  const entries: IndexedHeader[] = [];
  let end = 0;
  for (const entry of await linesOf(paths.headers)) {
    const next = entry.offset + entry.length + 1;
    if (entry.offset !== end || next > size) break;
    entries.push(entry);
    end = next;
  }
  // Where a crash of the machine lost the end of the trajectories and others were written there, the index goes back
  // behind itself, which ended the loop: only its last entries can tell of what is no more.
  for (let last = entries.at(-1); last && !(await isThere(paths.trajectories, last)); last = entries.at(-1)) {
    end = last.offset;
    entries.pop();
  }
  return { entries, end };
}

async function isThere(file: string, { header, offset, length }: IndexedHeader): Promise<boolean> {
  const line = Buffer.alloc(length + 1);
  const handle = await open(file, 'r');
  try {
    await handle.read(line, 0, line.length, offset);
  } finally {
    await handle.close();
  }
  const text = line.toString('utf8');
  return text.endsWith('}\n') && text.startsWith(`{"id":${JSON.stringify(header.id)},`);
}

async function linesOf(file: string): Promise<readonly IndexedHeader[]> {
  try {
    const lines = await new JsonLinesReader(file, (value) => indexedHeaderSchema.parse(value)).read();
    return lines.map(({ value }) => value);
  } catch (error) {
    if (error instanceof WhetstoneError) return [];
    throw error;
  }
}
