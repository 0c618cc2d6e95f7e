import type { Task } from '../trajectory/task.js';
import type { Environment } from './environment.js';
import type { FileChange } from './workspace/workspace.js';

/** Folders of what was installed or compiled: a file there is no source, and may stand in the place of a library. */
const installed = /(^|\/)(node_modules|__pycache__|site-packages|\.venv|venv)(\/|$)|\.py[co]$/;

/**
 * What of an episode's changes is graded: not tests, nor what configures them, nor what is no source. A source that holds
 * tests counts with the tests as they were.
 */
export function countedChanges(environment: Environment, task: Task, changes: readonly FileChange[]): FileChange[] {
  const { suites } = environment;
  const ofTests = new Set(task.whetstone.test_files.filter((path) => !suites.isMixed(path)));
  return changes
    .filter(({ path }) => !ofTests.has(path) && !suites.isTestFile(path) && !installed.test(path))
    .map((change) => ({ ...change, after: withOldTests(environment, change) ?? change.after }))
    .filter(({ before, after, executable }) => before !== after || executable !== undefined);
}

/** Path of a change that cannot be graded, since it changes how the file is tested; null where there is none. */
export function ungradable(environment: Environment, changes: readonly FileChange[]): string | null {
  const found = changes.find((change) => change.after !== null && withOldTests(environment, change) === null);
  return found?.path ?? null;
}

const withOldTests = ({ suites }: Environment, { path, before, after }: FileChange) =>
  after === null ? null : suites.restoreTests(path, before ?? '', after);
