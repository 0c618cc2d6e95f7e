import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { removeFolder } from '../sandbox/removeFolder.js';

export const worktreesFolder = (stateFolder: string) => path.join(stateFolder, 'worktrees');

/** Deletes the worktrees (`<pid>-<n>`) whose process has ended without deleting them. */
export async function sweepWorktrees(stateFolder: string): Promise<void> {
  const folder = worktreesFolder(stateFolder);
  for (const name of await readdir(folder).catch(() => [])) {
    const pid = Number(/^(\d+)-/.exec(name)?.[1]);
    if (!isAlive(pid)) await removeFolder(path.join(folder, name));
  }
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
