import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RepositoryEnvironment } from '../environment.js';
import { applyUnifiedDiff } from '../reward/unifiedPatch.js';
import { skippedAttempt, type Attempt, type AttemptResult } from './attempt.js';
import type { AttemptSettings } from './attemptSettings.js';
import type { Baseline } from './baseline.js';
import { bugCandidates, type BugCandidate, type SourceFile } from './injection/candidates.js';
import { OPERATORS } from './injection/operators/index.js';
import { seededOrder } from './seededOrder.js';
import { isWrittenByHand } from './sourceFiles.js';
import { injectionStatement } from './statement.js';
import { SoundRuns } from './soundRuns.js';
import { TestSelector } from './selection/testSelector.js';
import { runOnce, SILENT, tryTrees } from './trial.js';
import { unifiedDiff } from './unifiedDiff.js';

/** Parsing all of a huge repository would cost more than it brings. */
const MAX_SOURCE_FILES = 400;
/** Misses in a row after which a function or a file counts as one that the tests do not reach. */
const MISSES_PER_FUNCTION = 2;
const MISSES_PER_FILE = 8;

/** A hanging test is told from a slow one by this much more time than the sound tree takes. */
const timeoutAfter = (soundMs: number) => 10_000 + 4 * soundMs;

/** Every bug that the operators can put into the environment's base tree, varied from the first. */
export async function* injectionAttempts(
  environment: RepositoryEnvironment,
  baseline: Baseline,
  settings: AttemptSettings,
): AsyncGenerator<Attempt> {
  const { baseTree } = environment;
  const tree = await environment.openWorkspaceFromTree(baseTree, '');
  try {
    const sources = await readSources(tree.root, settings);
    const selector = await TestSelector.of(tree.root, settings.paths.all, baseline, settings.gradingMs);
    const shared = { date: await commitDate(environment), soundRuns: new SoundRuns(environment, baseline, settings) };
    const selected = new Map<string, readonly string[]>();
    const reach = new Reach();
    for (const candidate of bugCandidates(sources, OPERATORS, settings.seed)) {
      const { path, before, after } = candidate;
      if (environment.suites.restoreTests(path, before, after) !== after) {
        yield skippedAttempt(path, 'in code of the tests');
        continue;
      }
      if (reach.isOut(candidate)) {
        yield skippedAttempt(path, 'in code that the tests do not reach');
        continue;
      }
      const files = selected.get(path) ?? (await selector.filesFor([path]));
      selected.set(path, files);
      yield {
        title: `${candidate.operator} in ${path}`,
        run: async () => {
          const result = await tryCandidate(environment, candidate, files, shared, settings);
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
  candidate: BugCandidate,
  files: readonly string[],
  shared: { readonly date: string; readonly soundRuns: SoundRuns },
  settings: AttemptSettings,
): Promise<AttemptResult> {
  const { repository, baseTree } = environment;
  const { path, before, after, operator } = candidate;
  const startPatch = unifiedDiff([{ path, before, after }]);
  const patch = unifiedDiff([{ path, before: after, after: before }]);
  if (!(await leadsTo(startPatch, path, before, after)) || !(await leadsTo(patch, path, after, before))) {
    return { invalid: 'its patch does not apply' };
  }
  const sound = (run: number) => shared.soundRuns.get(files, run);
  const broken = async (run: number) => {
    // Only what passes the first run gets a start tree of its own, as its episodes will have.
    const open = () =>
      run === 0
        ? environment.openWorkspaceFromTree(baseTree, '', [{ path, before, after }])
        : environment.openWorkspaceFromTree(baseTree, startPatch);
    const timeoutMs = Math.min(settings.timeoutMs, timeoutAfter((await sound(run)).durationMs));
    return runOnce(open, { files, timeoutMs, signal: settings.signal });
  };
  const result = await tryTrees(sound, broken, settings.validationRuns);
  settings.quarantine.noteSound(result.wavering.sound);
  settings.quarantine.noteBroken(`${path}:${candidate.line} ${operator}`, result.wavering.broken);
  if (result.kind === 'flaky') return { flaky: true };
  if (result.kind === 'invalid') return { invalid: result.reason };
  return {
    draft: {
      source: 'injection',
      baseCommit: repository.headCommit,
      baseTree,
      date: shared.date,
      startPatch,
      testPatch: '',
      patch,
      statement: (failing) => injectionStatement(repository.name, failing),
      failures: result.failures,
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

/** Is the patch, read back, the change that it was made of? */
async function leadsTo(patch: string, path: string, before: string, after: string): Promise<boolean> {
  const changes = await applyUnifiedDiff(patch, (name) => Promise.resolve(name === path ? before : null)).catch(
    () => [],
  );
  return changes.length === 1 && changes[0].path === path && changes[0].after === after;
}

async function readSources(root: string, { paths, isOutOfReach, seed }: AttemptSettings): Promise<SourceFile[]> {
  const within = paths.sources.filter((path) => !isOutOfReach(path));
  const chosen = seededOrder(within, seed, (path) => path).slice(0, MAX_SOURCE_FILES);
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
      if ('invalid' in result && result.invalid === SILENT) this.misses.set(key, (this.misses.get(key) ?? 0) + 1);
      else this.hits.add(key);
    }
  }
}

const keys = ({ path, scopeLine }: BugCandidate) => ({ scope: `${path}:${scopeLine}`, file: path });
