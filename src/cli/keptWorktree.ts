import { randomBytes } from 'node:crypto';
import { mkdir, rename } from 'node:fs/promises';
import path from 'node:path';
import { explainFileError } from '../env/repo/git.js';

/**
 * Moves a worktree out of the episode that made it, to `.whetstone/kept/`, where nothing cleans up but its owner. Gives
 * the folder that it is then. Throws bad-input where the folder cannot be written.
 */
export async function keepWorktree(root: string, stateFolder: string): Promise<string> {
  const folder = path.join(stateFolder, 'kept');
  const target = path.join(folder, `replay-${randomBytes(4).toString('hex')}`);
  try {
    await mkdir(folder, { recursive: true });
    await rename(root, target);
  } catch (error) {
    throw explainFileError(error, 'write', folder);
  }
  return target;
}
