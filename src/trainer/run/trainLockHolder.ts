import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { processIdentity } from './processIdentity.js';

/** What a run is written to for. */
const activitySchema = z.enum(['training', 'branching']);
export type LockActivity = z.infer<typeof activitySchema>;

const holderSchema = z.object({
  pid: z.int(),
  identity: z.string(),
  runId: z.string(),
  nonce: z.string(),
  activity: activitySchema.default('training'),
});
/** What is written in `.whetstone/train.lock`. */
export type LockHolder = z.infer<typeof holderSchema>;

export const lockFile = (stateFolder: string) => path.join(stateFolder, 'train.lock');

/** Who holds the lock at this moment; null where nobody who lives does. */
export async function trainLockHolder(
  stateFolder: string,
): Promise<Pick<LockHolder, 'pid' | 'runId' | 'activity'> | null> {
  const holder = await readHolder(lockFile(stateFolder));
  if (holder === null || !(await lives(holder))) return null;
  const { pid, runId, activity } = holder;
  return { pid, runId, activity };
}

export async function lives(holder: LockHolder): Promise<boolean> {
  return (await processIdentity(holder.pid)) === holder.identity;
}

export async function readHolder(file: string): Promise<LockHolder | null> {
  return parseHolder(await readFile(file, 'utf8').catch(() => ''));
}

/** Null where what is written is no lock. */
export function parseHolder(text: string): LockHolder | null {
  try {
    return holderSchema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}
