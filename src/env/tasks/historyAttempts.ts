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
import { testsForCommit } from './selection/testSelector.js';
import { historyStatement } from './statement.js';
import { runOnce, SILENT, tryTrees, type ValidTrial } from './trial.js';

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
  const isTest = (path: string) => environment.suites.isTestFile(path);
  const commits = historyCandidates(environment.repository, isTest, settings.historyLimit, settings.signal);
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
  const { result, files } = tried;
  return {
    draft: {
      source: 'history',
      baseCommit: candidate.parent,
      baseTree,
      date: candidate.date,
      startPatch: candidate.testPatch,
      testPatch: candidate.testPatch,
      patch: candidate.sourcePatch,
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
): Promise<AttemptResult | { readonly result: ValidTrial; readonly files: readonly string[] }> {
  const prepared = await prepare(environment, baseline, candidate, gradingMs, open);
  if (prepared === null) return { invalid: 'its patch does not apply' };
  const { files, oracle } = prepared;
  if (files.length === 0) return { invalid: 'no tests ran' };

  let first: TestReport | undefined;
  const sound = async () => {
    const report = await runOnce(() => open(oracle), { files, timeoutMs, signal });
    first ??= report;
    return report;
  };
  const broken = () => runOnce(() => open([]), { files, timeoutMs, signal });
  const result = await tryTrees(sound, broken, validationRuns);
  quarantine.noteSound(result.wavering.sound);
  quarantine.noteBroken(candidate.commit, result.wavering.broken);
  if (result.kind === 'flaky') return { flaky: true };
  if (result.kind === 'valid') return { result, files };
  const own = first?.results.some(({ file, status }) => status === 'failed' && candidate.testFiles.includes(file));
  return { invalid: result.reason === SILENT && own ? 'its own tests fail with its change too' : result.reason };
}

/** The test files of the commit's tree that matter, and the oracle as changes of the start tree. Null where a patch does not apply. */
async function prepare(
  environment: RepositoryEnvironment,
  baseline: Baseline,
  candidate: HistoryCandidate,
  gradingMs: number,
  open: OpenStart,
) {
  try {
    const start = await open([]);
    try {
      const read = (path: string) => readFile(join(start.root, ...path.split('/')), 'utf8').catch(() => null);
      const oracle = await applyUnifiedDiff(candidate.sourcePatch, read);
      const testFiles = await environment.suites.testFilesIn(start.root);
      const files = await testsForCommit(start.root, testFiles, candidate, baseline, gradingMs);
      return { oracle, files };
    } finally {
      await start.dispose();
    }
  } catch (error) {
    if (error instanceof WhetstoneError && error.kind !== 'bad-input') throw error;
    return null;
  }
}
