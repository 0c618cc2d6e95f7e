import { cancelled, failed, infrastructure } from '../trajectory/errors.js';
import { say } from '../trajectory/said.js';
import type { Grade, RewardComponent, TestStatus } from '../trajectory/grade.js';
import type { Task } from '../trajectory/task.js';
import { countedChanges, ungradable } from './countedChanges.js';
import type { Environment } from './environment.js';
import { compose, defaultWeights, type RewardWeights } from './reward/composite.js';
import { conductPenalties, defaultConduct, type ObservedConduct } from './reward/conduct.js';
import { formatReward, type FormatCounters } from './reward/formatReward.js';
import { changesSimilarity, formatErrorSimilarity, similarityReason, type Similarity } from './reward/similarity.js';
import { testReward, testsOfReport, testsOfStartTree } from './reward/testReward.js';
import { applyUnifiedDiff, FormatError } from './reward/unifiedPatch.js';
import { TestLimits } from './testLimits.js';
import { readTextFile, resolveInTree } from './tools/treeFiles.js';
import type { TestReport } from './testing/testRunner.js';
import type { RunMemory } from './workspace/runMemory.js';
import type { FileChange, Workspace } from './workspace/workspace.js';

export interface GradeOptions {
  /** Counters of the episode, for the format reward and the conduct; null where there was no episode. */
  readonly statistics: (FormatCounters & ObservedConduct) | null;
  readonly weights?: RewardWeights;
  /** For the run of the tests; less, once a solved tree of the same test files showed how long they take. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  /** The caller has seen the start tree's tests give results: a run without them is then the patch's fault. */
  readonly isMachineWell?: boolean;
  /** Answers the run of the tests where another grade made it, in a tree that was equal and that no policy ever had. */
  readonly memory?: RunMemory<'graded'>;
}

/**
 * Grades what an episode changed, in a tree that the policy never had: the start tree with its changes laid over, those
 * of tests and of their configuration left out, and the task's tests run there. A patch that breaks or hangs the tests
 * has failed them; where the start tree itself gives no results the machine is at fault, and that throws.
 */
export async function gradeChanges(
  environment: Environment,
  task: Task,
  changes: readonly FileChange[],
  options: GradeOptions,
): Promise<Grade> {
  const counted = countedChanges(environment, task, changes);
  const refused = ungradable(environment, counted);
  const workspace = await environment.openWorkspace(task, counted, options.memory);
  try {
    const oracle = countedChanges(environment, task, await oracleChanges(workspace, task, counted));
    const similarity = changesSimilarity(counted, oracle);
    const trouble =
      counted.length === 0
        ? 'nothing was changed'
        : refused && `${refused} changes how it is tested, or does not parse`;
    const statuses = trouble
      ? { tests: testsOfStartTree(task), trouble }
      : await runGradedTests(environment, workspace, task, options);
    const penalties = conductPenalties(changes, oracle, options.statistics, options.weights?.conduct ?? defaultConduct);
    return assemble(task, statuses, similarity, penalties, options);
  } finally {
    await workspace.dispose();
  }
}

/**
 * Grades a unified diff against the start tree: what counts of it is what would count of an episode that left the tree
 * so. One that can not be read or applied has similarity -1, and the tests are as in the start tree.
 */
export async function gradePatch(
  environment: Environment,
  task: Task,
  patch: string,
  options: GradeOptions,
): Promise<Grade> {
  const workspace = await environment.openWorkspace(task);
  let changes: FileChange[];
  try {
    changes = await applyUnifiedDiff(patch, (path) => readFromTree(workspace, path));
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    const statuses = { tests: testsOfStartTree(task), trouble: 'the patch does not apply' };
    return assemble(task, statuses, formatErrorSimilarity(error), {}, options);
  } finally {
    await workspace.dispose();
  }
  const patched = await environment.openWorkspace(task, changes);
  try {
    changes = await patched.changes();
  } finally {
    await patched.dispose();
  }
  return gradeChanges(environment, task, changes, options);
}

interface Statuses {
  readonly tests: ReadonlyMap<string, TestStatus>;
  /** Why the tests say nothing good, where that is not seen from them; else null. */
  readonly trouble: string | null;
  /** Why tests failed, by their id. */
  readonly messages?: ReadonlyMap<string, string>;
}

function assemble(
  task: Task,
  { tests, trouble, messages }: Statuses,
  similarity: Similarity,
  penalties: Readonly<Record<string, RewardComponent>>,
  options: GradeOptions,
): Grade {
  const outcome = testReward(task, tests);
  const scores = {
    tests: { score: outcome.graded, reason: trouble === null ? outcome.reason : `${outcome.reason} (${trouble})` },
    similarity: { score: similarity.reward, reason: similarityReason(similarity) },
    ...(options.statistics && { format: formatReward(options.statistics) }),
  };
  const { reward, components } = compose(scores, options.weights ?? defaultWeights, penalties);
  const { resolved, fraction } = outcome;
  const told = outcome.tests.map((test) => {
    const message = messages?.get(test.id) ?? '';
    return message === '' ? test : { ...test, message };
  });
  return { reward, resolved, fraction, components, tests: told, files: similarity.files };
}

/** Learned from trees that pass alone: a failing test may end long before what it waits for would. */
const solvedLimits = new TestLimits(10_000);

async function runGradedTests(
  environment: Environment,
  workspace: Workspace,
  task: Task,
  options: GradeOptions,
): Promise<Statuses> {
  const files = task.whetstone.test_files;
  const limited = { ...options, timeoutMs: solvedLimits.of(task, files, options.timeoutMs) };
  const report = await runTaskTests(workspace, task, limited);
  if (report.outcome === 'completed') {
    if (testReward(task, testsOfReport(report)).resolved) solvedLimits.learn(task, files, report);
    const messages = new Map(report.results.map(({ id, message }) => [id, message]));
    return { tests: testsOfReport(report), trouble: null, messages };
  }
  if (!options.isMachineWell) await requireStartTree(environment, task, limited);
  const trouble = { 'timed-out': 'the tests timed out', crashed: 'the test run crashed', 'no-tests': 'no tests ran' };
  return { tests: testsOfReport(report), trouble: trouble[report.outcome] };
}

/** Throws where the start tree's own tests give no results, now: no memory answers that. */
async function requireStartTree(environment: Environment, task: Task, options: GradeOptions): Promise<void> {
  const control = await environment.openWorkspace(task);
  try {
    const { outcome } = await runTaskTests(control, task, options);
    if (outcome !== 'completed') {
      throw infrastructure(
        say`The tests of ${task.instance_id} give no results even without the patch (${outcome}).`,
        'Check that the machine is not overloaded, or allow the tests more time.',
      );
    }
  } finally {
    await control.dispose();
  }
}

async function runTaskTests(
  workspace: Workspace,
  task: Task,
  { timeoutMs, signal }: GradeOptions,
): Promise<TestReport> {
  if (signal?.aborted) throw cancelled();
  const report = await workspace.runTests({ files: task.whetstone.test_files, timeoutMs, signal });
  if (signal?.aborted) throw cancelled();
  return report;
}

/** The oracle's changes against the start tree; what the policy changed in `workspace` is looked up as it was. */
async function oracleChanges(workspace: Workspace, task: Task, laidOver: readonly FileChange[]): Promise<FileChange[]> {
  const before = new Map(laidOver.map((change) => [change.path, change.before]));
  try {
    return await applyUnifiedDiff(task.patch, async (path) => {
      const known = before.get(path);
      return known === undefined ? readFromTree(workspace, path) : known;
    });
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    throw failed(
      say`The oracle patch of ${task.instance_id} does not apply to its start tree: ${error.message}`,
      'Build the tasks again with `whetstone tasks build`.',
      error,
    );
  }
}

/** Null where there is no such file. Throws FormatError where a patch can not change what is there. */
async function readFromTree(workspace: Workspace, path: string): Promise<string | null> {
  const place = await resolveInTree(workspace, path);
  if ('problem' in place) throw new FormatError(place.problem);
  if (place.kind === 'nothing') return null;
  const file = await readTextFile(place);
  if ('problem' in file) throw new FormatError(file.problem);
  return file.text;
}
