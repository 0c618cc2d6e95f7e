import { existsSync } from 'node:fs';
import { link, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ensureStateFolder } from '../../env/repo/stateFolder.js';
import { badInput } from '../../trajectory/errors.js';
import { processIdentity } from './processIdentity.js';
import { storageError } from './storage.js';
import { lives, lockFile, readHolder, type LockHolder } from './trainLockHolder.js';

/** Holds `.whetstone/train.lock`: one training at a time in a repository. */
export interface TrainLock {
  release(): Promise<void>;
}

/**
 * Takes the lock for `runId`, or throws bad-input naming the training that holds it. A lock whose process is gone (or
 * whose pid now belongs to another process) is taken over.
 */
export async function acquireTrainLock(stateFolder: string, runId: string): Promise<TrainLock> {
  const file = lockFile(stateFolder);
  const identity = await processIdentity(process.pid);
  const mine: LockHolder = {
    pid: process.pid,
    identity: identity ?? 'alive',
    runId,
    nonce: newNonce(),
  };
  const draft = `${file}.${mine.nonce}`;
  await ensureStateFolder(path.dirname(stateFolder), stateFolder);
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

const newNonce = () => `${process.pid}-${Date.now()}-${Math.random().toString(36).slice(2)}`;

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

/** Removes a lock whose process was killed; does nothing where that process lives, or where there is no lock. */
export async function removeDeadLock(stateFolder: string): Promise<void> {
  const file = lockFile(stateFolder);
  if (!existsSync(file)) return;
  const holder = await readHolder(file);
  if (holder === null || !(await lives(holder))) await evict(holder, file, `${file}.${newNonce()}.stale`);
}

async function evictDeadHolder(file: string, aside: string): Promise<void> {
  const holder = await readHolder(file);
  if (holder !== null && (await lives(holder))) {
    throw badInput(
      `A training already runs in this repository (run ${holder.runId}, pid ${holder.pid}).`,
      `Wait for it, or stop it with \`whetstone runs stop ${holder.runId}\`.`,
    );
  }
  await evict(holder, file, aside);
}

async function evict(dead: LockHolder | null, file: string, aside: string): Promise<void> {
  try {
    await rename(file, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  // Between reading and renaming, another process may have taken the lock over: then it goes back.
  const evicted = await readHolder(aside);
  if (evicted !== null && evicted.nonce !== dead?.nonce) await linked(aside, file);
  await rm(aside, { force: true });
}
