import { copyFile, stat, utimes } from 'node:fs/promises';
import path from 'node:path';
import { infrastructure } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';
import { git } from './git.js';
import { line } from './gitOutput.js';
import { withTemporaryIndex } from './temporaryIndex.js';

/**
 * Tree of the files as they lie on the disk, those in folders of an `excluded` name left out where they are untracked.
 * It knows nothing of the repository's own objects, so that it cannot touch them: trees are written anew, and files that
 * the index holds unchanged need not be read.
 */
export async function captureDirtyTree(
  repository: {
    readonly root: string;
    readonly gitDir: string;
    readonly stateFolder: string;
    readonly objectDirectory: string;
  },
  excluded: readonly string[],
  signal?: AbortSignal,
): Promise<string> {
  const { root, gitDir, stateFolder, objectDirectory } = repository;
  return withTemporaryIndex(stateFolder, async (indexFile) => {
    // The user's index carries what its stat cache knows and which files it skips on purpose.
    await copyIndex(path.join(gitDir, 'index'), indexFile);
    const own = { folder: root, objectDirectory, indexFile, signal };
    const exclusions = excluded.map((name) => `:(exclude,glob)**/${name}/**`);
    await git(own, ['add', '--all', '--', '.', ...exclusions]);
    const tree = line(await git(own, ['write-tree', '--missing-ok']));
    if (!tree) throw infrastructure(say`The uncommitted files of ${root} could not be read.`, 'Commit them first.');
    return tree;
  });
}

/**
 * git takes a file for unchanged only where it is older than the index: the copy must not look newer than the original.
 * A repository without an index (all files deleted, or just cloned without checkout) gets none.
 */
async function copyIndex(source: string, target: string): Promise<void> {
  const found = await stat(source).catch(() => null);
  if (!found) return;
  await copyFile(source, target);
  const before = found.mtimeMs / 1000 - 1;
  await utimes(target, before, before);
}
