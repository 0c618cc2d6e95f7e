import { badInput, cancelled } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';
import type { TestStatus } from '../../trajectory/grade.js';
import type { Task } from '../../trajectory/task.js';
import type { RepositoryEnvironment } from '../environment.js';
import type { TestReport } from '../testing/testRunner.js';
import type { Workspace } from '../workspace/workspace.js';
import { changesOfTask } from './taskChanges.js';

/**
 * Trees that a task's tests can be run in: the one that episodes start from, the same with the oracle, and the user's
 * files as they lie on the disk (a copy of them).
 */
export const testedTrees = ['start', 'oracle', 'current'] as const;
export type TestedTree = (typeof testedTrees)[number];

export interface TestedTest {
  readonly id: string;
  readonly list: 'FAIL_TO_PASS' | 'PASS_TO_PASS';
  readonly status: TestStatus;
  /** Why it failed; empty where it passed, or where nothing is known of it. */
  readonly message: string;
  /** Whether the task says that it ends so in this tree. */
  readonly isAsItMustBe: boolean;
}

/** What a run of a task's tests gave. */
export interface TestedTask {
  readonly instance_id: string;
  readonly tree: TestedTree;
  readonly outcome: TestReport['outcome'];
  readonly seconds: number;
  readonly tests: readonly TestedTest[];
  /** What the runner wrote, for people. */
  readonly output: string;
}

export interface TestOptions {
  readonly tree: TestedTree;
  /** Ids of the task's tests to tell of; all where it is empty. Only their files are run, where their ids name them. */
  readonly only?: readonly string[];
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

/** Runs a task's tests in a fresh copy of one of its trees. Throws badInput for a test that is none of the task's. */
export async function runTestsOfTask(
  environment: RepositoryEnvironment,
  task: Task,
  { tree, only = [], timeoutMs, signal }: TestOptions,
): Promise<TestedTask> {
  const known = new Map([
    ...task.FAIL_TO_PASS.map((id) => [id, 'FAIL_TO_PASS'] as const),
    ...task.PASS_TO_PASS.map((id) => [id, 'PASS_TO_PASS'] as const),
  ]);
  const stranger = only.find((id) => !known.has(id));
  if (stranger !== undefined) {
    const where = say`See \`whetstone tasks show ${task.instance_id}\`.`;
    throw badInput(say`${JSON.stringify(stranger)} is no test of ${task.instance_id}.`, where);
  }
  const workspace = await openTree(environment, task, tree);
  try {
    const report = await workspace.runTests({ files: filesOf(task, only), timeoutMs, signal });
    if (signal?.aborted) throw cancelled();
    const results = new Map(report.outcome === 'completed' ? report.results.map((result) => [result.id, result]) : []);
    const wanted = only.length === 0 ? [...known.keys()] : [...new Set(only)];
    return {
      instance_id: task.instance_id,
      tree,
      outcome: report.outcome,
      seconds: report.durationMs / 1000,
      tests: wanted.map((id) => {
        const list = known.get(id)!;
        const { status = 'missing', message = '' } = results.get(id) ?? {};
        const isToPass = tree !== 'start' || list === 'PASS_TO_PASS';
        return { id, list, status, message, isAsItMustBe: (status === 'passed') === isToPass };
      }),
      output: report.output,
    };
  } finally {
    await workspace.dispose();
  }
}

async function openTree(environment: RepositoryEnvironment, task: Task, tree: TestedTree): Promise<Workspace> {
  switch (tree) {
    case 'start':
      return environment.openWorkspace(task);
    case 'oracle':
      return environment.openWorkspace(task, await changesOfTask(environment.repository, task, 'oracle'));
    case 'current':
      return environment.openWorkspaceFromTree(environment.baseTree, '');
  }
}

/** The files of these tests: those that their ids begin with, or all of the task's where an id names none. */
function filesOf({ whetstone: { test_files } }: Task, only: readonly string[]): readonly string[] {
  const files = only.map((id) => test_files.find((file) => id.startsWith(`${file} > `)));
  return files.length === 0 || files.includes(undefined)
    ? test_files
    : test_files.filter((file) => files.includes(file));
}
