import { readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { runPaths, runsFolder } from '../run/runDirectory.js';
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
  for (const name of await readdir(runsFolder(stateFolder))) {
    const folder = path.join(runsFolder(stateFolder), name);
    const record = await readProcessRecord(folder);
    if (record === null) continue;
    if (process.platform !== 'win32' && isOurSocket(record.socket)) await rm(record.socket, { force: true });
    await rm(runPaths(folder).process, { force: true });
  }
}

/** A record is a file in the repository's folder: whatever it says, nothing but a socket of ours is deleted. */
const isOurSocket = (socket: string) => /^whetstone-[0-9a-f]{12}\.sock$/.test(path.basename(socket));
