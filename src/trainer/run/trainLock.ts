import { rm } from 'node:fs/promises';
import path from 'node:path';
import { ensureStateFolder } from '../../env/repo/stateFolder.js';
import { badInput } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';
import { storageError } from './storage.js';
import { lockOrHolder, newHolder } from './trainLockFile.js';
import { lockFile, readHolder, type LockActivity, type LockHolder } from './trainLockHolder.js';

/** Holds `.whetstone/train.lock`: one training at a time in a repository, and nobody else who writes to a run meanwhile. */
export interface TrainLock {
  release(): Promise<void>;
}

/**
 * Takes the lock for `runId`, or throws bad-input naming the training that holds it. A lock whose process is gone (or
 * whose pid now belongs to another process) is taken over.
 */
export async function acquireTrainLock(
  stateFolder: string,
  runId: string,
  activity: LockActivity = 'training',
): Promise<TrainLock> {
  const file = lockFile(stateFolder);
  const mine = await newHolder(runId, activity);
  await ensureStateFolder(path.dirname(stateFolder), stateFolder);
  let holder: LockHolder | null;
  try {
    holder = await lockOrHolder(file, mine);
  } catch (error) {
    throw storageError(error, file);
  }
  if (holder?.activity === 'branching') {
    throw badInput(say`Branches of run ${holder.runId} are being played (pid ${holder.pid}).`, 'Wait for them.');
  }
  if (holder !== null) {
    throw badInput(
      say`A training already runs in this repository (run ${holder.runId}, pid ${holder.pid}).`,
      say`Wait for it, or stop it with \`whetstone runs stop ${holder.runId}\`.`,
    );
  }
  return {
    async release() {
      if ((await readHolder(file))?.nonce === mine.nonce) await rm(file, { force: true });
    },
  };
}
