import { FILE_HEADERS_ONLY, formatPatch, parsePatch, reversePatch } from 'diff';
import type { RepositoryEnvironment } from '../../env/environment.js';
import { gradePatch } from '../../env/grade.js';
import { parseUnifiedDiff } from '../../env/reward/unifiedPatch.js';
import { splitTasks } from '../../env/tasks/split.js';
import { cancelled, WhetstoneError } from '../../trajectory/errors.js';
import type { Task } from '../../trajectory/task.js';
import type { ForeignTask } from '../readers/tasks.js';

export interface ImportedTasks {
  readonly tasks: readonly Task[];
  readonly refused: readonly { readonly instanceId: string; readonly reason: string }[];
}

export interface ImportTasksOptions {
  /** For one run of a task's tests. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly onProgress: (done: number, message: string) => void;
}

/**
 * Tasks of SWE-bench or SWE-smith, or ones that Whetstone exported, for this repository. Each is tried before it is kept: the
 * FAIL_TO_PASS tests fail in its start tree and the PASS_TO_PASS tests pass, and with the oracle all of them pass.
 */
export async function importTasks(
  environment: RepositoryEnvironment,
  candidates: readonly (ForeignTask | Task)[],
  options: ImportTasksOptions,
): Promise<ImportedTasks> {
  const kept: Task[] = [];
  const refused: { instanceId: string; reason: string }[] = [];
  const exported = new Set<Task>();
  for (const [index, one] of candidates.entries()) {
    const instanceId = isOwn(one) ? one.instance_id : one.instanceId;
    options.onProgress(index, instanceId);
    const outcome = await tryTask(environment, one, options);
    if (typeof outcome === 'string') refused.push({ instanceId, reason: outcome });
    else kept.push(outcome);
    if (isOwn(one)) exported.add(one);
  }
  const items = kept.map((task) => ({ files: filesOf(task.patch), scope: task.instance_id }));
  const { splits } = kept.length < 2 ? { splits: kept.map(() => 'train' as const) } : splitTasks(items, 1);
  const tasks = kept.flatMap((task, index): Task[] => {
    // A task of ours brings its side with it.
    if (exported.has(task)) return [task];
    const split = splits[index];
    if (split !== null) return [{ ...task, whetstone: { ...task.whetstone, split } }];
    refused.push({ instanceId: task.instance_id, reason: 'it changes files of both train and held-out tasks' });
    return [];
  });
  return { tasks, refused };
}

const isOwn = (one: ForeignTask | Task): one is Task => 'whetstone' in one;

/** The task, or why it is none here. */
async function tryTask(
  environment: RepositoryEnvironment,
  candidate: ForeignTask | Task,
  { signal, timeoutMs }: ImportTasksOptions,
): Promise<Task | string> {
  try {
    const task = isOwn(candidate) ? candidate : await toTask(environment, candidate);
    if (typeof task === 'string') return task;
    const workspace = await environment.openWorkspace(task);
    try {
      const { outcome, results } = await workspace.runTests({ files: task.whetstone.test_files, timeoutMs, signal });
      if (signal.aborted) throw cancelled();
      if (outcome !== 'completed') return `the tests of its start tree give no results (${outcome})`;
      const passes = new Set(results.filter(({ status }) => status === 'passed').map(({ id }) => id));
      const early = task.FAIL_TO_PASS.find((test) => passes.has(test));
      if (early !== undefined) return `${early} passes before the oracle`;
      const broken = task.PASS_TO_PASS.find((test) => !passes.has(test));
      if (broken !== undefined) return `${broken} does not pass before the oracle, or is not there`;
    } finally {
      await workspace.dispose();
    }
    const grade = await gradePatch(environment, task, task.patch, { statistics: null, timeoutMs, signal });
    const failing = grade.tests.find(({ after }) => after !== 'passed');
    return failing === undefined ? task : `${failing.id} does not pass with the oracle`;
  } catch (error) {
    if (error instanceof WhetstoneError && error.kind !== 'cancelled') return error.line;
    throw error;
  }
}

async function toTask(environment: RepositoryEnvironment, foreign: ForeignTask): Promise<Task | string> {
  const { repository, suites } = environment;
  const isSweSmith = foreign.format === 'swesmith';
  const commit = foreign.baseCommit ?? repository.headCommit;
  const tests = [...foreign.failToPass, ...foreign.passToPass];
  const files = [...new Set(tests.map((test) => test.split(' > ')[0]))].sort();
  const unknown = tests.find((test) => !test.includes(' > '));
  if (unknown !== undefined) return `which file holds the test ${JSON.stringify(unknown)} is not said`;
  const oracle = isSweSmith ? reversed(foreign.patch) : foreign.patch;
  return {
    instance_id: foreign.instanceId,
    repo: foreign.repo || repository.name,
    base_commit: commit,
    environment_setup_commit: commit,
    version: foreign.version,
    created_at: foreign.createdAt,
    problem_statement: foreign.problemStatement,
    hints_text: foreign.hintsText,
    patch: oracle,
    test_patch: foreign.testPatch,
    FAIL_TO_PASS: foreign.failToPass,
    PASS_TO_PASS: foreign.passToPass,
    whetstone: {
      source: isSweSmith ? 'injection' : 'history',
      split: 'train',
      base_tree: await repository.treeOf(commit),
      start_patch: isSweSmith ? foreign.patch : foreign.testPatch,
      runner: suites.name,
      test_root: suites.root,
      test_files: files,
      ...(isSweSmith ? { operator: 'swesmith' } : {}),
    },
  };
}

/** The patch that undoes a patch. */
function reversed(patch: string): string {
  const files = parsePatch(patch)
    .reverse()
    .map((file) => reversePatch(file));
  return files.map((file) => formatPatch(file, FILE_HEADERS_ONLY)).join('');
}

const filesOf = (patch: string) =>
  parseUnifiedDiff(patch).flatMap(({ oldPath, newPath }) => [oldPath, newPath].filter((name) => name !== null));
