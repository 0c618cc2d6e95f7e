import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RepositoryEnvironment } from '../environment.js';
import type { Attempt, AttemptResult } from './attempt.js';
import type { Baseline } from './baseline.js';
import { bugCandidates, type BugCandidate, type SourceFile } from './injection/candidates.js';
import { OPERATORS } from './injection/operators/index.js';
import { seededOrder } from './seededOrder.js';
import { isSourcePath, isTestPath, isWrittenByHand } from './sourceFiles.js';
import { injectionStatement } from './statement.js';
import { testFilesMentioning } from './testSelection.js';
import { tryBrokenTree } from './trial.js';
import { unifiedDiff } from './unifiedDiff.js';

export interface AttemptSettings {
  readonly seed: number;
  readonly validationRuns: number;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

/** Parsing all of a huge repository would cost more than it brings. */
const MAX_SOURCE_FILES = 400;
/** Misses in a row after which a function or a file counts as one that the tests do not reach. */
const MISSES_PER_FUNCTION = 2;
const MISSES_PER_FILE = 8;

/** Every bug that the operators can put into the environment's base tree, varied from the first. */
export async function* injectionAttempts(
  environment: RepositoryEnvironment,
  baseline: Baseline,
  settings: AttemptSettings,
): AsyncGenerator<Attempt> {
  const { baseTree } = environment;
  const tree = await environment.openWorkspaceFromTree(baseTree, '');
  try {
    const sources = await readSources(environment, tree.root, settings.seed);
    const date = await commitDate(environment);
    const selected = new Map<string, readonly string[]>();
    const reach = new Reach();
    for (const candidate of bugCandidates(sources, OPERATORS, settings.seed)) {
      const { path } = candidate;
      const files = selected.get(path) ?? (await chooseTests(baseline, tree.root, path));
      selected.set(path, files);
      yield {
        title: `${candidate.operator} in ${path}`,
        run: async () => {
          if (reach.isOut(candidate)) return { skipped: 'in code that the tests do not reach' };
          const result = await tryCandidate(environment, baseline, candidate, files, date, settings);
          reach.note(candidate, result);
          return result;
        },
      };
    }
  } finally {
    await tree.dispose();
  }
}

async function tryCandidate(
  environment: RepositoryEnvironment,
  baseline: Baseline,
  candidate: BugCandidate,
  files: readonly string[],
  date: string,
  settings: AttemptSettings,
): Promise<AttemptResult> {
  const { repository, baseTree } = environment;
  const { path, before, after, operator } = candidate;
  const sound = baseline.runs.map((run) => run.filter((result) => files.includes(result.file)));
  const open = () => environment.openWorkspaceFromTree(baseTree, '', [{ path, before, after }]);
  const { validationRuns: times, timeoutMs, signal } = settings;
  const result = await tryBrokenTree(open, sound, { files, times, timeoutMs, signal });
  if (result.kind === 'flaky') return { flaky: true };
  if (result.kind === 'invalid') return { invalid: result.reason };
  return {
    draft: {
      source: 'injection',
      baseCommit: repository.headCommit,
      baseTree,
      date,
      startPatch: unifiedDiff([{ path, before, after }]),
      testPatch: '',
      patch: unifiedDiff([{ path, before: after, after: before }]),
      statement: injectionStatement(repository.name, result.failures),
      failToPass: result.verdict.failToPass,
      passToPass: result.verdict.passToPass,
      testFiles: files,
      label: { commit: repository.headCommit, kind: operator },
      files: [path],
      scope: `${path}:${candidate.scopeLine}`,
      site: { file: path, line: candidate.line },
    },
  };
}

/** The test files that speak of the file, as long as more than one test passes there; else all of them. */
async function chooseTests(baseline: Baseline, root: string, path: string) {
  const { testFiles } = baseline;
  const chosen = await testFilesMentioning(root, testFiles, [path]);
  const passing = baseline.runs[0].filter(({ file, status }) => status === 'passed' && chosen.includes(file));
  return passing.length > 1 ? chosen : testFiles;
}

async function readSources(environment: RepositoryEnvironment, root: string, seed: number): Promise<SourceFile[]> {
  const { repository, suites, baseTree } = environment;
  const names = (await repository.git(['ls-tree', '-r', '-z', '--name-only', baseTree])).split('\0');
  const isOwn = (path: string) => isSourcePath(path) && !isTestPath(path) && !suites.isTestFile(path);
  const paths = names.filter((path) => isOwn(path) && !suites.testFiles.includes(path));
  const chosen = seededOrder(paths, seed, (path) => path).slice(0, MAX_SOURCE_FILES);
  const files = await Promise.all(chosen.map((path) => readSource(root, path)));
  return files.filter((file) => file !== null);
}

/** Null for what is no plain text of a person's: other encodings, links that lead nowhere, generated code. */
async function readSource(root: string, path: string): Promise<SourceFile | null> {
  try {
    const bytes = await readFile(join(root, ...path.split('/')));
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return isWrittenByHand(text) ? { path, text } : null;
  } catch {
    return null;
  }
}

async function commitDate({ repository }: RepositoryEnvironment): Promise<string> {
  return (
    await repository.git(['log', '-1', '--no-show-signature', '--format=%cI', repository.headCommit, '--'])
  ).trim();
}

/** Remembers where the tests noticed nothing, so that no more time goes there. */
class Reach {
  private readonly misses = new Map<string, number>();
  private readonly hits = new Set<string>();

  isOut(candidate: BugCandidate): boolean {
    const { scope, file } = keys(candidate);
    const isCold = (key: string, limit: number) => !this.hits.has(key) && (this.misses.get(key) ?? 0) >= limit;
    return isCold(scope, MISSES_PER_FUNCTION) || isCold(file, MISSES_PER_FILE);
  }

  note(candidate: BugCandidate, result: AttemptResult): void {
    for (const key of Object.values(keys(candidate))) {
      if ('invalid' in result && result.invalid === 'no test notices')
        this.misses.set(key, (this.misses.get(key) ?? 0) + 1);
      else this.hits.add(key);
    }
  }
}

const keys = ({ path, scopeLine }: BugCandidate) => ({ scope: `${path}:${scopeLine}`, file: path });
