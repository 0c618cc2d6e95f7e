import type { Task } from '../trajectory/task.js';
import type { Repository } from './repo/repository.js';
import type { TestSuites } from './testing/testSuites.js';
import type { RunMemory } from './workspace/runMemory.js';
import type { FileChange, Workspace } from './workspace/workspace.js';

/** A repository opened as an environment: its sandbox has been probed and its runner found. */
export interface Environment {
  /** Root of the user's repository; nothing of it is ever written, `.whetstone/` aside. */
  readonly repoRoot: string;
  /** `.whetstone/` in the repository root. */
  readonly stateFolder: string;
  /** The tests of the base tree and what drives them. */
  readonly suites: TestSuites;
  readonly sandbox: string;
  /**
   * A fresh copy of the task's start tree (with `changes` laid over it). With a memory, its test runs are answered from it
   * and remembered in it, as long as what lies in the tree is known.
   */
  openWorkspace(task: Task, changes?: readonly FileChange[], memory?: RunMemory): Promise<Workspace>;
  /** Ends every workspace that is still open. */
  dispose(): Promise<void>;
}

/** An environment over a real repository, as `openEnvironment` gives it: also what the builders of tasks need. */
export interface RepositoryEnvironment extends Environment {
  /** Reads the repository's history and objects. */
  readonly repository: Repository;
  /** Tree of the files as they lay on the disk when the environment was opened: HEAD's own where the tree is clean. */
  readonly baseTree: string;
  /**
   * A fresh copy of a git tree with a patch applied (and `changes` laid over it), for trees that no task has yet. The tree
   * with its patch is kept on the disk: what is tried only once belongs into `changes`. Its tests: all that were detected.
   */
  openWorkspaceFromTree(baseTree: string, startPatch: string, changes?: readonly FileChange[]): Promise<Workspace>;
}
