import type { Repository } from '../../repo/repository.js';
import { languageOf } from '../injection/parsing.js';
import { isSourcePath, isTestPath, isWrittenByHand } from '../sourceFiles.js';
import { listCommits, patchOf, type ChangedFile, type Commit } from './commits.js';
import { changesDependencies } from './dependencies.js';
import { haveSameTokens } from './sameTokens.js';

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

const NO_TEST_CHANGE = 'no test change';
const FOREIGN = 'only vendored, generated or configuration code';
const MAX_FILES = 12;
const MAX_CHANGED_LINES = 400;
const MAX_PATCH_CHARACTERS = 512 * 1024;

/** The runners' own word on what a test is. */
export interface RunnersTests {
  isTestFile(path: string): boolean;
  /** Does this source hold tests too? */
  isMixed(path: string): boolean;
  /** The changed text with the original's tests in it. */
  restoreTests(path: string, original: string, changed: string): string | null;
}

/**
 * Looks at the commits that lead to the repository's HEAD, newest first, and says of each why it cannot be a task or
 * gives it as a candidate.
 */
export async function* historyCandidates(
  repository: Repository,
  tests: RunnersTests,
  limit: number,
  signal?: AbortSignal,
): AsyncGenerator<Considered> {
  const shallow = (await repository.git(['rev-parse', '--is-shallow-repository'])).trim() === 'true';
  for (const commit of await listCommits(repository, repository.headCommit, limit, signal)) {
    signal?.throwIfAborted();
    yield await consider(repository, commit, shallow, tests);
  }
}

async function consider(
  repository: Repository,
  commit: Commit,
  shallow: boolean,
  tests: RunnersTests,
): Promise<Considered> {
  const isTest = (path: string) => tests.isTestFile(path) || isTestPath(path);
  const [parent, ...others] = commit.parents;
  if (parent === undefined) return { skipped: shallow ? 'shallow boundary' : 'root commit' };
  if (others.length > 0) return { skipped: 'merge' };
  if (/^revert\b/i.test(commit.message) || /this reverts commit/i.test(commit.message)) return { skipped: 'revert' };

  const { files } = commit;
  const touched = (wanted: (path: string) => boolean) =>
    [...new Set(files.flatMap((file) => [file.oldPath, file.path]))].filter(wanted).sort();
  const isSource = (path: string) => !isTest(path) && isSourcePath(path);
  const testFiles = touched(isTest);
  const sourceFiles = touched(isSource);
  const nothing = nothingToLearn(files, (path) => isTest(path) || isSourcePath(path));
  if (nothing !== null) return { skipped: nothing };
  if (sourceFiles.length === 0) {
    const foreign = touched((path) => !isTest(path) && languageOf(path) !== null && !isSourcePath(path));
    return { skipped: foreign.length > 0 ? FOREIGN : 'no source change' };
  }
  if (testFiles.length === 0 && !sourceFiles.some((path) => tests.isMixed(path))) return { skipped: NO_TEST_CHANGE };
  if (sourceFiles.length + testFiles.length > MAX_FILES) return { skipped: 'too large' };
  if (await changesDependencies(repository, parent, commit.id, files)) return { skipped: 'dependencies changed' };

  const sourcePatch = await patchOf(repository, parent, commit.id, sourceFiles);
  // The test patch is only ever applied by git, which knows binary files too.
  const testPatch = testFiles.length === 0 ? '' : await patchOf(repository, parent, commit.id, testFiles, ['--binary']);
  const flaw = flawOf(sourcePatch, testPatch);
  if (flaw !== null) return { skipped: flaw };
  const texts = await textsOf(
    repository,
    files.filter(({ path, oldPath }) => [path, oldPath].some(isSource)),
  );
  const emptiness = emptinessOf(texts);
  if (emptiness !== null) return { skipped: emptiness };
  const changesTests = ({ path, before, after }: SourceTexts) =>
    before !== null && after !== null && tests.isMixed(path) && tests.restoreTests(path, after, before) !== before;
  if (testFiles.length === 0 && !texts.some(changesTests)) return { skipped: NO_TEST_CHANGE };
  const { id, date, message } = commit;
  return { candidate: { commit: id, parent, date, message, sourceFiles, testFiles, sourcePatch, testPatch } };
}

function nothingToLearn(files: readonly ChangedFile[], matters: (path: string) => boolean): string | null {
  if (files.length === 0) return 'empty';
  if (files.every((file) => file.status === 'R' && hasSameContent(file))) return 'renames only';
  if (files.every((file) => hasSameContent(file))) return 'mode only';
  const hasMode = (mode: string, { oldMode, newMode }: ChangedFile) => oldMode === mode || newMode === mode;
  if (files.some((file) => hasMode('160000', file))) return 'submodule changed';
  if (files.some((file) => hasMode('120000', file) && (matters(file.path) || matters(file.oldPath))))
    return 'symbolic link changed';
  return null;
}

const hasSameContent = ({ oldBlob, newBlob }: ChangedFile) => oldBlob === newBlob;

/** A source on both sides of a commit. */
interface SourceTexts {
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
}

function textsOf(repository: Repository, files: readonly ChangedFile[]): Promise<SourceTexts[]> {
  const read = (blob: string | null) => (blob === null ? null : repository.git(['cat-file', 'blob', blob]));
  return Promise.all(
    files.map(async ({ path, oldBlob, newBlob }) => ({
      path,
      before: await read(oldBlob),
      after: await read(newBlob),
    })),
  );
}

/** Why the change of the sources says nothing; null where it says something. */
function emptinessOf(texts: readonly SourceTexts[]): string | null {
  const isGenerated = (text: string | null) => text !== null && !isWrittenByHand(text);
  if (texts.every(({ before, after }) => isGenerated(before) || isGenerated(after))) return FOREIGN;
  const isSame = texts.every(({ path, before, after }) => {
    const language = languageOf(path);
    return before !== null && after !== null && language !== null && haveSameTokens(before, after, language);
  });
  return isSame ? 'formatting only' : null;
}

function flawOf(sourcePatch: string, testPatch: string): string | null {
  const both = sourcePatch + testPatch;
  if (/^(Binary files .* differ|GIT binary patch)$/m.test(sourcePatch)) return 'binary source';
  if (/^[+-]version https:\/\/git-lfs\.github\.com\/spec\//m.test(both)) return 'large files (LFS)';
  if (testPatch.length > MAX_PATCH_CHARACTERS) return 'too large';
  // Bytes that are no UTF-8 were replaced on the way here, so the patch would not apply.
  if (both.includes('\ufffd')) return 'not UTF-8';
  if (changedLines(sourcePatch) > MAX_CHANGED_LINES || changedLines(testPatch) > 2 * MAX_CHANGED_LINES)
    return 'too large';
  return null;
}

function changedLines(patch: string): number {
  return patch.split('\n').filter((line) => /^[+-](?!(\+\+ |-- )["ab/])/.test(line)).length;
}
