import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { WhetstoneError } from '../../trajectory/errors.js';
import type { RepositoryEnvironment } from '../environment.js';
import { applyUnifiedDiff } from '../reward/unifiedPatch.js';
import type { Attempt, AttemptResult } from './attempt.js';
import { historyCandidates, type HistoryCandidate } from './history/candidates.js';
import type { AttemptSettings } from './injectionAttempts.js';
import { historyStatement } from './statement.js';
import { testFilesMentioning } from './testSelection.js';
import { runSoundTree, tryBrokenTree } from './trial.js';

/** The commits of the repository's history, newest first; those that cannot be a task are there with their reason. */
export async function* historyAttempts(
  environment: RepositoryEnvironment,
  settings: AttemptSettings & { readonly historyLimit: number },
): AsyncGenerator<Attempt> {
  const isTest = (path: string) => environment.suites.isTestFile(path);
  const commits = historyCandidates(environment.repository, isTest, settings.historyLimit, settings.signal);
  for await (const considered of commits) {
    if ('skipped' in considered) {
      yield { title: 'history', run: () => Promise.resolve(considered) };
      continue;
    }
    const { candidate } = considered;
    yield {
      title: `commit ${candidate.commit.slice(0, 8)}`,
      run: () => tryCommit(environment, candidate, settings),
    };
  }
}

async function tryCommit(
  environment: RepositoryEnvironment,
  candidate: HistoryCandidate,
  settings: AttemptSettings,
): Promise<AttemptResult> {
  const baseTree = await environment.repository.treeOf(candidate.parent);
  const prepared = await prepare(environment, candidate, baseTree);
  if (prepared === null) return { invalid: 'its patch does not apply' };
  const { files, oracle } = prepared;
  if (files.length === 0) return { invalid: 'no tests ran' };

  const trial = { files, times: settings.validationRuns, timeoutMs: settings.timeoutMs, signal: settings.signal };
  const open = () => environment.openWorkspaceFromTree(baseTree, candidate.testPatch);
  const sound = await runSoundTree(
    () => environment.openWorkspaceFromTree(baseTree, candidate.testPatch, oracle),
    trial,
  );
  if ('reason' in sound) return { invalid: sound.reason };
  const result = await tryBrokenTree(open, sound.runs, trial);
  if (result.kind === 'flaky') return { flaky: true };
  if (result.kind === 'invalid') return { invalid: result.reason };
  return {
    draft: {
      source: 'history',
      baseCommit: candidate.parent,
      baseTree,
      date: candidate.date,
      startPatch: candidate.testPatch,
      testPatch: candidate.testPatch,
      patch: candidate.sourcePatch,
      statement: historyStatement(candidate.message, result.failures),
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
async function prepare(environment: RepositoryEnvironment, candidate: HistoryCandidate, baseTree: string) {
  try {
    const start = await environment.openWorkspaceFromTree(baseTree, candidate.testPatch);
    try {
      const read = (path: string) => readFile(join(start.root, ...path.split('/')), 'utf8').catch(() => null);
      const oracle = await applyUnifiedDiff(candidate.sourcePatch, read);
      const testFiles = await environment.suites.testFilesIn(start.root);
      const changed = [...candidate.sourceFiles, ...candidate.testFiles];
      return { oracle, files: await testFilesMentioning(start.root, testFiles, changed) };
    } finally {
      await start.dispose();
    }
  } catch (error) {
    if (error instanceof WhetstoneError && error.kind !== 'bad-input') throw error;
    return null;
  }
}
