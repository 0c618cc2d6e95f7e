import type { Task } from '../trajectory/task.js';
import type { Environment } from './environment.js';
import type { FileChange } from './workspace/workspace.js';

/** Folders of what was installed or compiled: a file there is no source, and may stand in the place of a library. */
const installed = /(^|\/)(node_modules|__pycache__|site-packages|\.venv|venv)(\/|$)|\.py[co]$/;

/** What of an episode's changes is graded: not tests, nor what configures them, nor what is no source. */
export function countedChanges(environment: Environment, task: Task, changes: readonly FileChange[]): FileChange[] {
  const ofTests = new Set(task.whetstone.test_files);
  return changes.filter(
    ({ path }) => !ofTests.has(path) && !environment.suites.isTestFile(path) && !installed.test(path),
  );
}
