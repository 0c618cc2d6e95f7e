import { openRepository } from '../../src/env/repo/repository.js';
import { writeTasks } from '../../src/env/tasks/taskStore.js';
import { makeWorkspace, taskOf } from '../vscode/fixtures/workspace.js';
import { temporaryFolder } from './runCli.js';

/** A repository with a task to train on and one that is held out. */
export async function repositoryWithTasks() {
  const repo = makeWorkspace(temporaryFolder());
  const tests = { FAIL_TO_PASS: ['sum.test.js > sum adds'], PASS_TO_PASS: ['sum.test.js > sum of nothing'] };
  const task = { ...taskOf(repo, 'sums__1'), ...tests };
  const heldout = { ...task, instance_id: 'sums__2', whetstone: { ...task.whetstone, split: 'heldout' as const } };
  const { stateFolder } = await openRepository(repo);
  const funnel = { found: 2, skipped: {}, invalid: {}, flaky: 0, kept: 2, sources: {} };
  await writeTasks(stateFolder, 'key', { tasks: [task, heldout], funnel, quarantined: [], notes: [] });
  return { repo, task };
}
