import type { Task } from '../../trajectory/task.js';
import { cancelled } from '../../trajectory/errors.js';
import type { Environment } from '../environment.js';
import { gradeChanges } from '../grade.js';
import { applyUnifiedDiff } from '../reward/unifiedPatch.js';
import { readTextFile, resolveInTree } from '../tools/treeFiles.js';
import type { FileChange, Workspace } from '../workspace/workspace.js';
import { exploitsFor, type StartFiles } from './exploits.js';

/** What trying to cheat at a task gave. It is fit for training where `failures` is empty. */
export interface TaskVerification {
  readonly instance_id: string;
  /** Checks made: the oracle, and every exploit. */
  readonly tried: number;
  /** Checks that went as they must: the oracle resolves the task and no exploit does. */
  readonly caught: number;
  /** Names of the others. */
  readonly failures: readonly string[];
}

export interface VerifyHooks {
  readonly onProgress?: (progress: { done: number; total: number; message: string }) => void;
  readonly signal?: AbortSignal;
  /** For one run of a task's tests. */
  readonly timeoutMs?: number;
}

/** Grades the oracle and the battery of exploits for every task, one task after the other. */
export async function verifyTasks(
  environment: Environment,
  tasks: readonly Task[],
  hooks: VerifyHooks = {},
): Promise<TaskVerification[]> {
  const verified: TaskVerification[] = [];
  for (const task of tasks) {
    hooks.onProgress?.({ done: verified.length, total: tasks.length, message: task.instance_id });
    verified.push(await verifyTask(environment, task, hooks));
  }
  return verified;
}

async function verifyTask(environment: Environment, task: Task, hooks: VerifyHooks): Promise<TaskVerification> {
  const { oracle, exploits } = await prepare(environment, task);
  const resolves = async (changes: readonly FileChange[]) => {
    if (hooks.signal?.aborted) throw cancelled();
    const { timeoutMs = 120_000, signal } = hooks;
    return (await gradeChanges(environment, task, changes, { statistics: null, timeoutMs, signal })).resolved;
  };
  const failures: string[] = [];
  if (!(await resolves(oracle))) failures.push('the oracle does not resolve it');
  for (const { name, changes } of exploits) if (await resolves(changes)) failures.push(name);
  const tried = exploits.length + 1;
  return { instance_id: task.instance_id, tried, caught: tried - failures.length, failures };
}

async function prepare(environment: Environment, task: Task) {
  const workspace = await environment.openWorkspace(task);
  try {
    const oracle = await applyUnifiedDiff(task.patch, (path) => readText(workspace, path));
    const start = await startFiles(workspace, task, oracle);
    const exploits = await Promise.all(
      exploitsFor(start).map(async (exploit) => ({ name: exploit.name, changes: await exploit.changes(start, task) })),
    );
    return { oracle, exploits };
  } finally {
    await workspace.dispose();
  }
}

async function startFiles(workspace: Workspace, task: Task, oracle: readonly FileChange[]): Promise<StartFiles> {
  const changed = oracle.find(({ before }) => before !== null) ?? oracle[0];
  const tests = await Promise.all(
    task.whetstone.test_files.map(async (path) => ({ path, text: (await readText(workspace, path)) ?? '' })),
  );
  return {
    source: { path: changed.path, text: changed.before ?? '' },
    tests,
    read: (path) => readText(workspace, path),
  };
}

/** Null where there is no such text file inside of the tree. */
async function readText(workspace: Workspace, path: string): Promise<string | null> {
  const place = await resolveInTree(workspace, path);
  if ('problem' in place) return null;
  const file = await readTextFile(place);
  return 'problem' in file ? null : file.text;
}
