import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { git } from './git.js';
import { line, splitNul } from './gitOutput.js';
import { withTemporaryIndex } from './temporaryIndex.js';

/** Where a tree's objects are, and the files of its submodules. */
export interface TreeSource {
  readonly stateFolder: string;
  readonly root: string;
  readonly gitDir: string;
  readonly objectDirectory?: string;
  readonly alternate?: string;
}

/** Writes a commit's or tree's files into `folder`, with those of submodules that are initialised. */
export async function materializeTree(
  source: TreeSource,
  treeish: string,
  folder: string,
  signal?: AbortSignal,
): Promise<void> {
  await mkdir(folder, { recursive: true });
  await withTemporaryIndex(source.stateFolder, async (indexFile) => {
    const { gitDir, objectDirectory, alternate } = source;
    const context = { folder, gitDir, workTree: folder, indexFile, objectDirectory, alternate, signal };
    await git(context, ['read-tree', treeish]);
    await git(context, ['checkout-index', '--all', '--force', '--quiet']);
  });
  for (const { commit, name } of await submodules(source, treeish)) {
    const target = path.join(folder, ...name.split('/'));
    await mkdir(target, { recursive: true });
    const initialised = await submoduleSource(path.join(source.root, ...name.split('/')), source);
    if (initialised && (await hasCommit(initialised, commit)))
      await materializeTree(initialised, commit, target, signal);
  }
}

/** Submodules of a tree: the commit that each is at, and its path. */
async function submodules({ root, gitDir, objectDirectory, alternate }: TreeSource, treeish: string) {
  const entries = splitNul(
    await git({ folder: root, gitDir, objectDirectory, alternate }, ['ls-tree', '-r', '-z', treeish]),
  );
  return entries
    .map((entry) => /^160000 commit ([0-9a-f]+)\t(.+)$/s.exec(entry))
    .filter((match) => match !== null)
    .map(([, commit, name]) => ({ commit, name }));
}

/** Null where the submodule's folder is missing or empty: git then answers for the repository around it. */
async function submoduleSource(folder: string, parent: TreeSource): Promise<TreeSource | null> {
  try {
    const root = path.resolve(line(await git({ folder }, ['rev-parse', '--show-toplevel'])));
    if (root === parent.root) return null;
    const gitDir = line(await git({ folder }, ['rev-parse', '--absolute-git-dir']));
    return { root, gitDir, stateFolder: parent.stateFolder };
  } catch {
    return null;
  }
}

const hasCommit = async ({ root, gitDir }: TreeSource, commit: string) =>
  line(await git({ folder: root, gitDir }, ['rev-parse', '--verify', '--quiet', `${commit}^{commit}`])) !== '';
