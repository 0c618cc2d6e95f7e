import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { git, type GitContext } from '../../env/repo/git.js';
import { line } from '../../env/repo/gitOutput.js';
import type { Repository } from '../../env/repo/repository.js';
import { withTemporaryIndex } from '../../env/repo/temporaryIndex.js';
import { failed } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';
import type { Task } from '../../trajectory/task.js';
import { ownObjects } from '../ownObjects.js';

/** Commits without parents, so that no history gives an answer away; the same ids whenever the tasks are the same. */
export interface TaskCommits {
  /** The tree before the task's start patch. */
  readonly base: string;
  /** The tree that the episode starts from. */
  readonly start: string;
}

const author = { name: 'Whetstone', email: 'whetstone@localhost', date: '2000-01-01T00:00:00Z' };

/**
 * Makes a bare repository at `target` (which does not exist yet) that holds just the tasks' trees: a branch `task/<id>` for
 * each start tree, and a branch `base/<tree>` for each tree before its patch.
 */
export async function writeStartCommits(
  repository: Repository,
  tasks: readonly Task[],
  target: string,
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, TaskCommits>> {
  const context: GitContext = { folder: target, gitDir: target, hermetic: true, author, signal };
  await mkdir(target, { recursive: true });
  await git(context, ['init', '--quiet', '--bare', '--template=', '--initial-branch=main']);
  const alternates = path.join(target, 'objects', 'info', 'alternates');
  await mkdir(path.dirname(alternates), { recursive: true });
  await writeFile(alternates, `${await ownObjects(repository)}\n${path.join(repository.stateFolder, 'objects')}\n`);

  const commits = new Map<string, TaskCommits>();
  const bases = new Map<string, string>();
  const commit = async (tree: string, branch: string) => {
    const id = line(await git(context, ['commit-tree', tree, '-m', 'Start']));
    await git(context, ['update-ref', `refs/heads/${branch}`, id]);
    return id;
  };
  for (const task of tasks) {
    const { base_tree } = task.whetstone;
    const base = bases.get(base_tree) ?? (await commit(base_tree, `base/${base_tree}`));
    bases.set(base_tree, base);
    const tree = await startTree(repository, context, task);
    commits.set(task.instance_id, { base, start: await commit(tree, branchOf(task)) });
  }
  // What was read from the user's repository is copied, and nothing is left that leads there.
  await git(context, ['repack', '-a', '-d', '-q', '--no-write-bitmap-index']);
  await rm(alternates);
  const [first] = tasks;
  if (first) await git(context, ['symbolic-ref', 'HEAD', `refs/heads/${branchOf(first)}`]);
  return commits;
}

/** Name of the branch of a task's start tree. An id may hold two dots in a row, a branch's name may not. */
export const branchOf = ({ instance_id }: Task) => `task/${instance_id.replace(/\.{2,}|\.lock$|\.$/g, '-')}`;

async function startTree(repository: Repository, context: GitContext, task: Task): Promise<string> {
  const { base_tree, start_patch } = task.whetstone;
  if (start_patch === '') return base_tree;
  return withTemporaryIndex(repository.stateFolder, async (indexFile) => {
    const own = { ...context, indexFile };
    await git(own, ['read-tree', base_tree]);
    const input = start_patch.endsWith('\n') ? start_patch : `${start_patch}\n`;
    await git({ ...own, input }, ['apply', '--cached', '--whitespace=nowarn', '-']).catch((error: unknown) => {
      if (context.signal?.aborted) throw error;
      throw failed(say`The start patch of ${task.instance_id} does not apply.`, 'Build the tasks again.', error);
    });
    return line(await git(own, ['write-tree']));
  });
}

/** Writes the files of a commit of the repository at `gitDir` into `folder`. */
export async function checkOut(gitDir: string, commit: string, folder: string, signal?: AbortSignal): Promise<void> {
  await mkdir(folder, { recursive: true });
  const indexFile = path.join(folder, '..', '.index');
  const context: GitContext = { folder, gitDir, workTree: folder, indexFile, hermetic: true, signal };
  try {
    await git(context, ['read-tree', commit]);
    await git(context, ['checkout-index', '--all', '--force', '--quiet']);
  } finally {
    await rm(indexFile, { force: true });
  }
}

/** Writes a file that `git clone` takes, with these branches and nothing else. */
export async function writeBundle(
  gitDir: string,
  branches: readonly string[],
  file: string,
  signal?: AbortSignal,
): Promise<void> {
  const refs = branches.map((branch) => `refs/heads/${branch}`);
  await git({ folder: gitDir, gitDir, hermetic: true, signal }, ['bundle', 'create', '--quiet', file, ...refs]);
}
