import { failed } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';
import type { Task } from '../../trajectory/task.js';
import type { Repository } from '../repo/repository.js';
import { applyUnifiedDiff, FormatError } from '../reward/unifiedPatch.js';
import type { FileChange } from '../workspace/workspace.js';

/** A patch of a task: what makes its start tree (a bug, or the tests of a commit), or the oracle. */
export type TaskPatch = 'start' | 'oracle';

type Reader = (path: string) => Promise<string | null>;

/**
 * What a task's own patch changes, file by file, read from git's objects: no worktree is made and nothing is run. Throws
 * failed where the patch is none that a diff of texts can show.
 */
export function changesOfTask(repository: Repository, task: Task, which: TaskPatch): Promise<FileChange[]> {
  const base = readerOfTree(repository, task.whetstone.base_tree);
  if (which === 'start') return apply(task.whetstone.start_patch, base, task);
  return changesOfPatch(repository, task, task.patch);
}

/** What a unified diff against the task's start tree changes. Throws like `changesOfTask`. */
export async function changesOfPatch(repository: Repository, task: Task, patch: string): Promise<FileChange[]> {
  return apply(patch, await readerOfStart(repository, task), task);
}

/** A file of the tree that the task starts from; null where there is none. */
export async function startFile(repository: Repository, task: Task, path: string): Promise<string | null> {
  return (await readerOfStart(repository, task))(path);
}

async function readerOfStart(repository: Repository, task: Task): Promise<Reader> {
  const base = readerOfTree(repository, task.whetstone.base_tree);
  const start = new Map((await apply(task.whetstone.start_patch, base, task)).map(({ path, after }) => [path, after]));
  return async (path) => (start.has(path) ? start.get(path)! : base(path));
}

function readerOfTree(repository: Repository, tree: string): Reader {
  return async (path) => {
    const entry = await repository.git(['ls-tree', '-z', '--full-tree', tree, '--', `:(literal)${path}`]);
    const [, id] = /^\d+ blob ([0-9a-f]+)\t/.exec(entry) ?? [];
    return id === undefined ? null : repository.git(['cat-file', 'blob', id]);
  };
}

async function apply(patch: string, read: Reader, task: Task): Promise<FileChange[]> {
  try {
    return await applyUnifiedDiff(patch, read);
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    throw failed(say`A patch of ${task.instance_id} can not be shown as a difference: ${error.message}`, '', error);
  }
}
