import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { WhetstoneError } from '../../trajectory/errors.js';
import type { RepositoryEnvironment } from '../environment.js';
import { applyUnifiedDiff } from '../reward/unifiedPatch.js';
import type { TestReport } from '../testing/testRunner.js';
import { skippedAttempt, type Attempt, type AttemptResult } from './attempt.js';
import type { AttemptSettings } from './attemptSettings.js';
import type { Baseline } from './baseline.js';
import { historyCandidates, type HistoryCandidate } from './history/candidates.js';
import { testsForCommit } from './selection/testSelector.js';
import { historyStatement } from './statement.js';
import { runOnce, SILENT, tryTrees } from './trial.js';

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

async function tryCommit(
  environment: RepositoryEnvironment,
  baseline: Baseline,
  candidate: HistoryCandidate,
  settings: HistorySettings,
): Promise<AttemptResult> {
  const baseTree = await environment.repository.treeOf(candidate.parent);
  const prepared = await prepare(environment, baseline, candidate, baseTree, settings.gradingMs);
  if (prepared === null) return { invalid: 'its patch does not apply' };
  const { files, oracle } = prepared;
  if (files.length === 0) return { invalid: 'no tests ran' };

  const { quarantine, timeoutMs, signal } = settings;
  const broken = () =>
    runOnce(() => environment.openWorkspaceFromTree(baseTree, candidate.testPatch), { files, timeoutMs, signal });
  let first: TestReport | undefined;
  const sound = async () => {
    const open = () => environment.openWorkspaceFromTree(baseTree, candidate.testPatch, oracle);
    const report = await runOnce(open, { files, timeoutMs, signal });
    first ??= report;
    return report;
  };
  const result = await tryTrees(sound, broken, settings.validationRuns);
  quarantine.noteSound(result.wavering.sound);
  quarantine.noteBroken(candidate.commit, result.wavering.broken);
  if (result.kind === 'flaky') return { flaky: true };
  if (result.kind === 'invalid') {
    const own = first?.results.some(({ file, status }) => status === 'failed' && candidate.testFiles.includes(file));
    return { invalid: result.reason === SILENT && own ? 'its own tests fail with its change too' : result.reason };
  }
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

/** The test files of the commit's tree that matter, and the oracle as changes of the start tree. Null where a patch does not apply. */
async function prepare(
  environment: RepositoryEnvironment,
  baseline: Baseline,
  candidate: HistoryCandidate,
  baseTree: string,
  gradingMs: number,
) {
  try {
    const start = await environment.openWorkspaceFromTree(baseTree, candidate.testPatch);
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
