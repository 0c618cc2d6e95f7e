import type { Repository } from '../../repo/repository.js';
import { isSourcePath, isTestPath } from '../sourceFiles.js';
import { listCommits, patchOf, type ChangedFile, type Commit } from './commits.js';
import { changesDependencies } from './dependencies.js';

/** A commit that could become a task. Patches are unified diffs against the parent. */
export interface HistoryCandidate {
  readonly commit: string;
  readonly parent: string;
  readonly date: string;
  readonly message: string;
  readonly sourceFiles: readonly string[];
  readonly testFiles: readonly string[];
  readonly sourcePatch: string;
  readonly testPatch: string;
}

export type Considered = { readonly candidate: HistoryCandidate } | { readonly skipped: string };

const MAX_FILES = 12;
const MAX_CHANGED_LINES = 400;

/**
 * Looks at the commits that lead to the repository's HEAD, newest first, and says of each why it cannot be a task or
 * gives it as a candidate. `isRunnersTest` is the test runner's own word on what a test file is.
 */
export async function* historyCandidates(
  repository: Repository,
  isRunnersTest: (path: string) => boolean,
  limit: number,
  signal?: AbortSignal,
): AsyncGenerator<Considered> {
  const shallow = (await repository.git(['rev-parse', '--is-shallow-repository'])).trim() === 'true';
  for (const commit of await listCommits(repository, repository.headCommit, limit, signal)) {
    signal?.throwIfAborted();
    yield await consider(repository, commit, shallow, (path) => isRunnersTest(path) || isTestPath(path));
  }
}

async function consider(
  repository: Repository,
  commit: Commit,
  shallow: boolean,
  isTest: (path: string) => boolean,
): Promise<Considered> {
  const [parent, ...others] = commit.parents;
  if (parent === undefined) return { skipped: shallow ? 'shallow boundary' : 'root commit' };
  if (others.length > 0) return { skipped: 'merge' };
  if (/^revert\b/i.test(commit.message) || /this reverts commit/i.test(commit.message)) return { skipped: 'revert' };

  const { files } = commit;
  const nothing = nothingToLearn(files);
  if (nothing !== null) return { skipped: nothing };
  const touched = (wanted: (path: string) => boolean) =>
    [...new Set(files.flatMap((file) => [file.oldPath, file.path]))].filter(wanted).sort();
  const testFiles = touched(isTest);
  const sourceFiles = touched((path) => !isTest(path) && isSourcePath(path));
  if (sourceFiles.length === 0) return { skipped: 'no source change' };
  if (testFiles.length === 0) return { skipped: 'no test change' };
  if (sourceFiles.length + testFiles.length > MAX_FILES) return { skipped: 'too large' };
  if (await changesDependencies(repository, parent, commit.id, files)) return { skipped: 'dependencies changed' };

  const sourcePatch = await patchOf(repository, parent, commit.id, sourceFiles);
  const testPatch = await patchOf(repository, parent, commit.id, testFiles);
  const flaw = flawOf(sourcePatch, testPatch);
  if (flaw !== null) return { skipped: flaw };
  const inkOnly = await patchOf(repository, parent, commit.id, sourceFiles, [
    '--ignore-all-space',
    '--ignore-blank-lines',
  ]);
  if (changedLines(inkOnly) === 0) return { skipped: 'formatting only' };
  const { id, date, message } = commit;
  return { candidate: { commit: id, parent, date, message, sourceFiles, testFiles, sourcePatch, testPatch } };
}

function nothingToLearn(files: readonly ChangedFile[]): string | null {
  if (files.length === 0) return 'empty';
  if (files.every((file) => file.status === 'R' && file.sameContent)) return 'renames only';
  if (files.every((file) => file.sameContent)) return 'mode only';
  if (files.some((file) => /^(12|16)0000$/.test(file.oldMode) || /^(12|16)0000$/.test(file.newMode)))
    return 'link or submodule';
  return null;
}

function flawOf(sourcePatch: string, testPatch: string): string | null {
  const both = sourcePatch + testPatch;
  if (/^(Binary files .* differ|GIT binary patch)$/m.test(both)) return 'binary';
  // Bytes that are no UTF-8 were replaced on the way here, so the patch would not apply.
  if (both.includes('\ufffd')) return 'not UTF-8';
  if (changedLines(sourcePatch) > MAX_CHANGED_LINES || changedLines(testPatch) > 2 * MAX_CHANGED_LINES)
    return 'too large';
  return null;
}

function changedLines(patch: string): number {
  return patch.split('\n').filter((line) => /^[+-](?!(\+\+ |-- )["ab/])/.test(line)).length;
}
