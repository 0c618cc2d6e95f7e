import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ensureStateFolder } from '../../env/repo/stateFolder.js';
import { badInput } from '../../trajectory/errors.js';
import { processIdentity } from './processIdentity.js';
import { storageError } from './storage.js';
import { evict, linked, newNonce } from './trainLockFile.js';
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
