import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { WhetstoneError } from '../../trajectory/errors.js';
import type { RepositoryEnvironment } from '../environment.js';
import { applyUnifiedDiff } from '../reward/unifiedPatch.js';
import type { TestReport } from '../testing/testRunner.js';
import { skippedAttempt, type Attempt, type AttemptResult } from './attempt.js';
import type { AttemptSettings } from './attemptSettings.js';
import type { Baseline } from './baseline.js';
import type { FileChange, Workspace } from '../workspace/workspace.js';
import { historyCandidates, type HistoryCandidate } from './history/candidates.js';
import { startTreeChanges } from './history/startChanges.js';
import { splitTests, type SplitChange } from './history/testsWithinSources.js';
import { testsForCommit } from './selection/testSelector.js';
import { historyStatement } from './statement.js';
import { runOnce, SILENT, tryTrees, type ValidTrial } from './trial.js';
import { unifiedDiff } from './unifiedDiff.js';

export interface HistorySettings extends AttemptSettings {
  /** Commits looked at. */
  readonly historyLimit: number;
}

/** The commits of the repository's history, newest first; those that cannot be a task are there with their reason. */
export async function* historyAttempts(
  environment: RepositoryEnvironment,
  baseline: Baseline,
  settings: HistorySettings,
): AsyncGenerator<Attempt> {
  const { repository, suites } = environment;
  const commits = historyCandidates(repository, suites, settings.historyLimit, settings.signal);
  for await (const considered of commits) {
    if ('skipped' in considered) {
      yield skippedAttempt('history', considered.skipped);
      continue;
    }
    const { candidate } = considered;
    if (candidate.sourceFiles.every(settings.isOutOfReach)) {
      yield skippedAttempt('history', 'its package does not reach the tests');
      continue;
    }
    yield {
      title: `commit ${candidate.commit.slice(0, 8)}`,
      run: () => tryCommit(environment, baseline, candidate, settings),
    };
  }
}

/**
 * A tree on the disk for each commit (its start tree, with a commit of its own) takes longer than its tests, and most commits
 * are no task. So the start tree is tried as changes of the base tree, as an injected bug is, wherever these can say it.
 */
async function tryCommit(
  environment: RepositoryEnvironment,
  baseline: Baseline,
  candidate: HistoryCandidate,
  settings: HistorySettings,
): Promise<AttemptResult> {
  const { repository } = environment;
  const baseTree = await repository.treeOf(candidate.parent);
  const laidOver = await startTreeChanges(repository, environment.baseTree, candidate, settings.signal);
  const open: OpenStart = (changes) =>
    laidOver === null
      ? environment.openWorkspaceFromTree(baseTree, candidate.testPatch, changes)
      : environment.openWorkspaceFromTree(environment.baseTree, '', [...laidOver, ...changes]);
  const tried = await tryStart(environment, baseline, candidate, settings, open);
  if (!('result' in tried)) return tried;
  const { result, files, tests, oracle } = tried;
  const testPatch = candidate.testPatch + unifiedDiff(tests);
  return {
    draft: {
      source: 'history',
      baseCommit: candidate.parent,
      baseTree,
      date: candidate.date,
      startPatch: testPatch,
      testPatch,
      patch: tests.length === 0 ? candidate.sourcePatch : unifiedDiff(oracle),
      statement: (failing) => historyStatement(candidate.message, failing),
      failures: result.failures,
      failToPass: result.verdict.failToPass,
      passToPass: result.verdict.passToPass,
      testFiles: files,
      label: { commit: candidate.commit, kind: 'history' },
      files: candidate.sourceFiles,
      scope: candidate.commit,
    },
  };
}

/** A fresh copy of a candidate's start tree, with changes laid over it. */
type OpenStart = (changes: readonly FileChange[]) => Promise<Workspace>;

/** Compares the start tree with what the commit's change makes of it: a verdict, or why there is none. */
async function tryStart(
  environment: RepositoryEnvironment,
  baseline: Baseline,
  candidate: HistoryCandidate,
  { quarantine, timeoutMs, signal, gradingMs, validationRuns }: HistorySettings,
  open: OpenStart,
): Promise<AttemptResult | (Prepared & { readonly result: ValidTrial })> {
  const prepared = await prepare(environment, baseline, candidate, gradingMs, open);
  if ('invalid' in prepared) return prepared;
  const { files, tests, whole } = prepared;
  if (files.length === 0) return { invalid: 'no tests ran' };

  let first: TestReport | undefined;
  const sound = async () => {
    const report = await runOnce(() => open(whole), { files, timeoutMs, signal });
    first ??= report;
    return report;
  };
  const broken = () => runOnce(() => open(tests), { files, timeoutMs, signal });
  const result = await tryTrees(sound, broken, validationRuns);
  quarantine.noteSound(result.wavering.sound);
  quarantine.noteBroken(candidate.commit, result.wavering.broken);
  if (result.kind === 'flaky') return { flaky: true };
  if (result.kind === 'valid') return { ...prepared, result };
  const own = first?.results.some(({ file, status }) => status === 'failed' && candidate.testFiles.includes(file));
  return { invalid: result.reason === SILENT && own ? 'its own tests fail with its change too' : result.reason };
}

interface Prepared extends SplitChange {
  /** The test files of the start tree that matter. */
  readonly files: readonly string[];
  /** The commit's whole change of sources. */
  readonly whole: readonly FileChange[];
}

/** What is tried, or why nothing can be. */
async function prepare(
  environment: RepositoryEnvironment,
  baseline: Baseline,
  candidate: HistoryCandidate,
  gradingMs: number,
  open: OpenStart,
): Promise<Prepared | { readonly invalid: string }> {
  const { suites } = environment;
  try {
    const whole = await inTree(open([]), (root) =>
      applyUnifiedDiff(candidate.sourcePatch, (path) =>
        readFile(join(root, ...path.split('/')), 'utf8').catch(() => null),
      ),
    );
    const split = splitTests(whole, (path, original, changed) => suites.restoreTests(path, original, changed));
    if (split === null) return { invalid: 'its change cannot be graded' };
    const testFiles = [...candidate.testFiles, ...split.tests.map(({ path }) => path)];
    const files = await inTree(open(split.tests), async (root) =>
      testsForCommit(root, await suites.testFilesIn(root), { ...candidate, testFiles }, baseline, gradingMs),
    );
    return { ...split, files, whole };
  } catch (error) {
    if (error instanceof WhetstoneError && error.kind !== 'bad-input') throw error;
    return { invalid: 'its patch does not apply' };
  }
}

/** Reads something of a tree, which is gone afterwards. */
async function inTree<T>(opening: Promise<Workspace>, read: (root: string) => Promise<T>): Promise<T> {
  const tree = await opening;
  try {
    return await read(tree.root);
  } finally {
    await tree.dispose();
  }
}
