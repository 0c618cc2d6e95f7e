import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { explainFileError } from './git.js';

/** Makes `.whetstone/` (or the folder given), with a `.gitignore` of `*` so that it never shows up in `git status`. */
export async function ensureStateFolder(
  repoRoot: string,
  stateFolder = path.join(repoRoot, '.whetstone'),
): Promise<string> {
  try {
    await mkdir(stateFolder, { recursive: true });
    await writeFile(path.join(stateFolder, '.gitignore'), '*\n');
  } catch (error) {
    throw explainFileError(error, 'write', stateFolder);
  }
  return stateFolder;
}
