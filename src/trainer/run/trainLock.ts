import { link, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { badInput } from '../../trajectory/errors.js';
import { processIdentity } from './processIdentity.js';
import { createStateFolder, storageError } from './storage.js';

const holderSchema = z.object({ pid: z.int(), identity: z.string(), runId: z.string(), nonce: z.string() });
type Holder = z.infer<typeof holderSchema>;

/** Holds `.whetstone/train.lock`: one training at a time in a repository. */
export interface TrainLock {
  release(): Promise<void>;
}

/**
 * Takes the lock for `runId`, or throws bad-input naming the training that holds it. A lock whose process is gone (or
 * whose pid now belongs to another process) is taken over.
 */
export async function acquireTrainLock(stateFolder: string, runId: string): Promise<TrainLock> {
  const file = path.join(stateFolder, 'train.lock');
  const identity = await processIdentity(process.pid);
  const mine: Holder = {
    pid: process.pid,
    identity: identity ?? 'alive',
    runId,
    nonce: `${process.pid}-${Date.now()}-${Math.random().toString(36).slice(2)}`,
  };
  const draft = `${file}.${mine.nonce}`;
  await createStateFolder(stateFolder);
  try {
    await writeFile(draft, JSON.stringify(mine));
    while (!(await linked(draft, file))) await evictDeadHolder(file, `${draft}.stale`);
  } catch (error) {
    throw storageError(error, file);
  } finally {
    await rm(draft, { force: true });
  }
  return {
    async release() {
      if ((await readHolder(file))?.nonce === mine.nonce) await rm(file, { force: true });
    },
  };
}

/** Who holds the lock at this moment; null where nobody who lives does. */
export async function trainLockHolder(stateFolder: string): Promise<{ pid: number; runId: string } | null> {
  const holder = await readHolder(path.join(stateFolder, 'train.lock'));
  return holder !== null && (await lives(holder)) ? { pid: holder.pid, runId: holder.runId } : null;
}

/** A link appears whole or not at all, so a reader never finds a lock without its holder. */
async function linked(draft: string, file: string): Promise<boolean> {
  try {
    await link(draft, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

async function evictDeadHolder(file: string, aside: string): Promise<void> {
  const holder = await readHolder(file);
  if (holder !== null && (await lives(holder))) {
    throw badInput(
      `A training already runs in this repository (run ${holder.runId}, pid ${holder.pid}).`,
      `Wait for it, or stop it with \`whetstone runs stop ${holder.runId}\`.`,
    );
  }
  try {
    await rename(file, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  // Between reading and renaming, another process may have taken the lock over: then it goes back.
  const evicted = await readHolder(aside);
  if (evicted !== null && evicted.nonce !== holder?.nonce) await linked(aside, file);
  await rm(aside, { force: true });
}

async function lives(holder: Holder): Promise<boolean> {
  return (await processIdentity(holder.pid)) === holder.identity;
}

async function readHolder(file: string): Promise<Holder | null> {
  try {
    return holderSchema.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch {
    return null;
  }
}
