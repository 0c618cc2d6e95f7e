import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import path from 'node:path';
import { explainFileError } from './git.js';

/**
 * Gives the path of a git index of its own, which does not exist yet and is deleted afterwards. It lies among the
 * worktrees, named like them, so that it is swept where this process is killed.
 */
export async function withTemporaryIndex<T>(stateFolder: string, use: (indexFile: string) => Promise<T>): Promise<T> {
  const around = path.join(stateFolder, 'worktrees');
  const folder = await mkdir(around, { recursive: true })
    .then(() => mkdtemp(path.join(around, `${process.pid}-index-`)))
    .catch((error: unknown) => {
      throw explainFileError(error, 'write', around);
    });
  try {
    return await use(path.join(folder, 'index'));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
