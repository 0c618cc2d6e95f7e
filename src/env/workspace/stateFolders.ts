import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { removeFolder } from '../sandbox/removeFolder.js';

/** Folders of one process each, named `<pid>-…`. */
export const worktreesFolder = (stateFolder: string) => path.join(stateFolder, 'worktrees');

/** Templates, and drafts of such, named `<key>.<pid>-…`. */
export const templatesFolder = (stateFolder: string) => path.join(stateFolder, 'cache', 'trees');

/** Filled caches of compilers, and drafts of such, named as templates are. */
export const buildCachesFolder = (stateFolder: string) => path.join(stateFolder, 'cache', 'builds');

/** Deletes the worktrees and drafts whose process has ended without deleting them. */
export async function sweepLeftovers(stateFolder: string): Promise<void> {
  for (const folder of [worktreesFolder(stateFolder), templatesFolder(stateFolder), buildCachesFolder(stateFolder)]) {
    for (const name of await readdir(folder).catch(() => [])) {
      const owner = /^(?:\w+\.)?(\d+)-/.exec(name);
      if (owner && !isAlive(Number(owner[1]))) await removeFolder(path.join(folder, name));
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
