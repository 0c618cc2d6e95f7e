import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RepositoryEnvironment } from '../environment.js';
import { decidedAttempt, skippedAttempt, type Attempt, type AttemptResult, type TaskDraft } from './attempt.js';
import type { AttemptSettings } from './attemptSettings.js';
import type { Baseline } from './baseline.js';
import { bugCandidates, type BugCandidate, type SourceFile } from './injection/candidates.js';
import { OPERATORS } from './injection/operators/index.js';
import { BugPool } from './injection/severalBugs.js';
import { tryTogether } from './injectionTrial.js';
import { ScoutingTrial } from './scoutingTrial.js';
import { seededOrder } from './seededOrder.js';
import { isWrittenByHand } from './sourceFiles.js';
import { SoundRuns } from './soundRuns.js';
import { ImportGraph } from './selection/importGraph.js';
import { TestSelector } from './selection/testSelector.js';
import { SILENT } from './trial.js';

/** Parsing all of a huge repository would cost more than it brings. */
const MAX_SOURCE_FILES = 400;
/** Misses in a row after which a function or a file counts as one that the tests do not reach. */
const MISSES_PER_FUNCTION = 2;
const MISSES_PER_FILE = 8;

/**
 * Every bug that the operators can put into the environment's base tree, varied from the first. Some of those that are
 * tasks by themselves are set aside and put in together, so that a task may have several.
 */
export async function* injectionAttempts(
  environment: RepositoryEnvironment,
  baseline: Baseline,
  settings: AttemptSettings,
): AsyncGenerator<Attempt> {
  const { baseTree } = environment;
  const tree = await environment.openWorkspaceFromTree(baseTree, '');
  try {
    const sources = await readSources(tree.root, baseline, settings);
    const selector = await TestSelector.of(tree.root, settings.paths.all, baseline, settings.gradingMs);
    const soundRuns = new SoundRuns(environment, baseline, settings);
    const context = { environment, settings, soundRuns, date: await commitDate(environment) };
    const paths = sources.map(({ path }) => path);
    const pool = new BugPool<TaskDraft>(paths, settings.seed);
    let ordinal = 0;
    const trial = new ScoutingTrial(context, selector);
    const reach = new Reach();
    for (const candidate of bugCandidates(sources, OPERATORS, settings.seed)) {
      const together = pool.take();
      if (together.length > 0) {
        yield { title: 'several bugs', run: () => tryTogether(context, together) };
      }
      const { path, before, after } = candidate;
      if (environment.suites.restoreTests(path, before, after) !== after) {
        yield skippedAttempt(path, 'in code of the tests');
        continue;
      }
      if (reach.isOut(candidate)) {
        yield skippedAttempt(path, 'in code that the tests do not reach');
        continue;
      }
      const turn = ordinal++;
      yield {
        title: `${candidate.operator} in ${path}`,
        run: async () => {
          const result = await trial.try(candidate);
          reach.note(candidate, result);
          if (!('draft' in result) || !pool.isMeant(turn)) return result;
          pool.add(turn, { bug: candidate, draft: result.draft, breaks: result.draft.failToPass });
          return { skipped: 'set aside for a task of several bugs' };
        },
      };
    }
    for (const { draft } of pool.rest()) yield decidedAttempt(draft.label.kind, { draft });
  } finally {
    await tree.dispose();
  }
}

/** The sources to break. Of a huge repository, only those that tests load, as far as imports say which. */
async function readSources(
  root: string,
  { testFiles }: Baseline,
  { paths, isOutOfReach, seed }: AttemptSettings,
): Promise<SourceFile[]> {
  const within = paths.sources.filter((path) => !isOutOfReach(path));
  const isHuge = within.length > MAX_SOURCE_FILES;
  const graph = isHuge ? await ImportGraph.of(root, paths.all, testFiles) : null;
  const loaded = within.filter((path) => graph?.isLoaded(path));
  const pool = loaded.length > 0 ? loaded : within;
  const chosen = seededOrder(pool, seed, (path) => path).slice(0, MAX_SOURCE_FILES);
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
