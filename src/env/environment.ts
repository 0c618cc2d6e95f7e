import type { Task } from '../trajectory/task.js';
import type { DetectedRunner } from './testing/testRunner.js';
import type { FileChange, Workspace } from './workspace/workspace.js';

/** A repository opened as an environment: its sandbox has been probed and its runner found. */
export interface Environment {
  /** Root of the user's repository; nothing of it is ever written, `.whetstone/` aside. */
  readonly repoRoot: string;
  /** `.whetstone/` in the repository root. */
  readonly stateFolder: string;
  readonly detected: DetectedRunner;
  readonly sandbox: string;
  /** A fresh copy of the task's start tree (with `changes` laid over it). */
  openWorkspace(task: Task, changes?: readonly FileChange[]): Promise<Workspace>;
  /** Ends every workspace that is still open. */
  dispose(): Promise<void>;
}
