import { lstat, readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { runPaths, runsFolder } from '../run/runDirectory.js';
import { removeDeadLock } from '../run/trainLockFile.js';
import { trainLockHolder } from '../run/trainLockHolder.js';
import { processRecordSchema, type ProcessRecord } from './protocol.js';

/** How to reach the process of a run; null where none is recorded. */
export async function readProcessRecord(runFolder: string): Promise<ProcessRecord | null> {
  try {
    return processRecordSchema.parse(JSON.parse(await readFile(runPaths(runFolder).process, 'utf8')));
  } catch {
    return null;
  }
}

/**
 * Removes the sockets and records that killed processes left behind. Only the holder of the train lock may call this: no
 * other training lives then.
 */
export async function forgetDeadProcesses(stateFolder: string): Promise<void> {
  for (const { folder, record } of await processRecords(stateFolder)) {
    await removeSocket(record);
    await rm(runPaths(folder).process, { force: true });
  }
}

/**
 * Removes the lock and the sockets that killed trainings left behind, for whoever looks at a repository next; does nothing
 * while a training lives, and leaves what it may not remove. The records stay: a run that is just being resumed writes its own.
 */
export async function cleanUpAfterKilled(stateFolder: string): Promise<void> {
  // Read before the look at the lock: of what is found free then, none of these is the holder.
  const records = await processRecords(stateFolder);
  if ((await trainLockHolder(stateFolder)) !== null) return;
  try {
    for (const { record } of records) await removeSocket(record);
    await removeDeadLock(stateFolder);
  } catch {
    // A repository that only can be read is looked at all the same.
  }
}

async function processRecords(stateFolder: string): Promise<{ folder: string; record: ProcessRecord }[]> {
  const names = await readdir(runsFolder(stateFolder)).catch(() => []);
  const found = await Promise.all(
    names.map(async (name) => {
      const folder = path.join(runsFolder(stateFolder), name);
      const record = await readProcessRecord(folder);
      return record === null ? [] : [{ folder, record }];
    }),
  );
  return found.flat();
}

/** A record is a file in the repository's folder: whatever it says, nothing but a socket of ours is deleted. */
async function removeSocket({ socket }: ProcessRecord): Promise<void> {
  if (!/^whetstone-[0-9a-f]{12}\.sock$/.test(path.basename(socket))) return;
  const found = await lstat(socket).catch(() => null);
  if (found?.isSocket()) await rm(socket, { force: true });
}
