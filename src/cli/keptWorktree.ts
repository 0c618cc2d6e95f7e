import { mkdir, rm } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { copyTree } from '../env/workspace/copyTree.js';
import { explainFileError } from '../env/repo/git.js';

/**
 * Copies a worktree out of the episode that made it (it may be a mount), to `.whetstone/kept/`, where nothing cleans up
 * but its owner. Gives the folder of the copy. Throws bad-input where the folder cannot be written.
 */
export async function keepWorktree(root: string, stateFolder: string): Promise<string> {
  const folder = path.join(stateFolder, 'kept');
  const target = path.join(folder, `replay-${randomBytes(4).toString('hex')}`);
  try {
    await mkdir(folder, { recursive: true });
    await copyTree(root, target);
  } catch (error) {
    await rm(target, { recursive: true, force: true });
    throw explainFileError(error, 'write', folder);
  }
  return target;
}
