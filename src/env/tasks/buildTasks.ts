import { createHash } from 'node:crypto';
import { badInput, WhetstoneError } from '../../trajectory/errors.js';
import { say, type Said } from '../../trajectory/said.js';
import type { Funnel, TaskSource } from '../../trajectory/task.js';
import type { RepositoryEnvironment } from '../environment.js';
import type { Attempt, AttemptResult, TaskDraft } from './attempt.js';
import { measureBaseline } from './baseline.js';
import { provenReach } from './canary/canaryStore.js';
import { isOutOfReach, outOfReach, proveReach } from './canary/proveReach.js';
import { countFunnel } from './funnel.js';
import { historyAttempts } from './historyAttempts.js';
import { injectionAttempts } from './injectionAttempts.js';
import { Quarantine } from './quarantine.js';
import { repositoryNotes } from './repositoryNotes.js';
import { searchTasks } from './search.js';
import { splitTasks } from './split.js';
import { numbered, toTask } from './taskRecord.js';
import { treePaths } from './treePaths.js';
import { CHOICE, mostVaried } from './variety.js';
import { readBuilt, writeTasks, type BuiltTasks } from './taskStore.js';

export interface BuildOptions {
  readonly sources: readonly TaskSource[];
  /** Tasks wanted at most. History gives no more than half of them where bugs are injected too. */
  readonly limit: number;
  /** Commits of the history looked at. */
  readonly historyLimit: number;
  readonly seed: number;
  /** How often each tree's tests are run; a test that differs is not graded by. */
  readonly validationRuns: number;
  readonly concurrency: number;
  /**
   * The search that follows the baseline ends after this many seconds with what it has; null for no end. History gets no
   * more than half of them where bugs are injected too.
   */
  readonly maxSeconds: number | null;
  /** For one run of the whole suite. */
  readonly testTimeoutMs: number;
  /** A task is graded by the whole suite where that takes no longer than this, else by about as many tests as do. */
  readonly gradingMs: number;
}

export const defaultBuildOptions: BuildOptions = {
  sources: ['history', 'injection'],
  limit: 60,
  historyLimit: 300,
  seed: 1,
  validationRuns: 3,
  concurrency: 2,
  maxSeconds: null,
  testTimeoutMs: 300_000,
  gradingMs: 1_000,
};

export interface BuildProgress {
  /** Tasks found so far of those wanted. */
  readonly done: number;
  readonly total: number;
  readonly kept: number;
  /** Candidates looked at so far. */
  readonly tried: number;
  readonly said: Said;
}

export interface BuildHooks {
  readonly onProgress?: (progress: BuildProgress) => void;
  readonly signal?: AbortSignal;
}

/** Changed whenever the same repository and options would give other tasks. */
const FORMAT = 3;

/**
 * Makes tasks of a repository and stores them: a baseline of its tests, candidates from history and by injection, each
 * tried, the survivors split. The stored ones come back where head, files and options are the same. Throws `badInput`
 * where the tests give no baseline or where no task survives.
 */
export async function buildTasks(
  environment: RepositoryEnvironment,
  options: BuildOptions,
  hooks: BuildHooks = {},
): Promise<BuiltTasks> {
  const key = cacheKey(environment, options);
  const stored = await readStoredWith(environment, key);
  if (stored !== null) return stored;

  const report = (progress: Omit<BuildProgress, 'done' | 'total'>) =>
    hooks.onProgress?.({ done: Math.min(progress.kept, options.limit), total: options.limit, ...progress });
  report({ kept: 0, tried: 0, said: say`Running the tests for a baseline` });
  const { concurrency, validationRuns: times, testTimeoutMs, signal } = { ...options, ...hooks };
  const baseline = await measureBaseline(environment, { times, timeoutMs: testTimeoutMs, concurrency, signal });
  const quarantine = new Quarantine();
  quarantine.noteSound(baseline.flaky);
  const paths = await treePaths(environment);
  report({ kept: 0, tried: 0, said: say`Proving that a change reaches the tests` });
  const reach = await provenReach(environment, () =>
    proveReach(environment, baseline, paths, {
      timeoutMs: Math.min(testTimeoutMs, 10_000 + 2 * baseline.durationMs),
      signal,
    }),
  );
  if (reach.length > 0 && !reach.some(({ reaches }) => reaches)) throw outOfReach(reach);
  const settings = {
    ...options,
    paths,
    isOutOfReach: (path: string) => isOutOfReach(reach, path),
    // A tree of the past may be slower, but one that takes many times as long hangs.
    timeoutMs: Math.min(testTimeoutMs, 10_000 + 5 * baseline.durationMs),
    quarantine,
    signal,
  };

  // By a clock that nobody sets and that, on Linux, sleeps when the machine does.
  const started = performance.now();
  const deadlineAfter = (share: number) =>
    options.maxSeconds === null ? Infinity : started + share * options.maxSeconds * 1000;
  const results: Record<TaskSource, AttemptResult[]> = { history: [], injection: [] };
  const all = () => [...results.history, ...results.injection];
  const search = async (
    source: TaskSource,
    attempts: AsyncGenerator<Attempt>,
    share: { readonly limit: number; readonly deadline: number },
  ) => {
    const before = { tried: all().length, kept: draftsOf(all()).length };
    results[source] = await searchTasks(attempts, { ...share, concurrency, signal }, ({ tried, kept, message }) =>
      report({ tried: before.tried + tried, kept: before.kept + kept, said: { message } }),
    );
  };
  const injects = options.sources.includes('injection');
  if (options.sources.includes('history')) {
    const limit = injects ? Math.floor(options.limit / 2) : options.limit;
    const attempts = historyAttempts(environment, baseline, settings);
    await search('history', attempts, { limit, deadline: deadlineAfter(injects ? 0.5 : 1) });
  }
  if (injects) {
    const limit = Math.ceil(CHOICE * (options.limit - draftsOf(results.history).length));
    const attempts = injectionAttempts(environment, baseline, settings);
    await search('injection', attempts, { limit, deadline: deadlineAfter(1) });
  }

  // A test that was found to waver late may stand in tasks that were found early.
  const certain = chooseVaried(
    mapResults(results, (draft) => withoutQuarantined(draft, quarantine)),
    options.limit,
  );
  const drafts = draftsOf([...certain.history, ...certain.injection]);
  if (drafts.length === 0) throw noTask(countOf(certain, options), performance.now() > deadlineAfter(1));
  const { splits, note } = splitTasks(drafts, options.seed);
  const sides = new Map(drafts.map((draft, index) => [draft, splits[index]]));
  const settled = mapResults(certain, (draft) =>
    sides.get(draft) === null ? { skipped: 'spans train and held-out' } : { draft },
  );
  const tasks = numbered(drafts).flatMap(({ draft, id }) => {
    const split = sides.get(draft) ?? null;
    return split === null ? [] : [toTask(environment, draft, id, split)];
  });
  const unreached = reach.flatMap(({ reason }) => (reason === null ? [] : [reason.message]));
  const usesHistory = options.sources.includes('history');
  const lacks = await repositoryNotes(environment.repository, environment.baseTree, { usesHistory });
  const notes = [...lacks, ...baseline.leftOut, ...unreached, ...(note === null ? [] : [note])];
  const built = { tasks, funnel: countOf(settled, options), quarantined: quarantine.names, notes };
  await writeTasks(environment.stateFolder, key, built);
  return built;
}

type Results = Readonly<Record<TaskSource, readonly AttemptResult[]>>;

const draftsOf = (results: readonly AttemptResult[]) =>
  results.flatMap((result) => ('draft' in result ? [result.draft] : []));

const mapResults = (results: Results, judge: (draft: TaskDraft) => AttemptResult): Results => {
  const map = (own: readonly AttemptResult[]) =>
    own.map((result) => ('draft' in result ? judge(result.draft) : result));
  return { history: map(results.history), injection: map(results.injection) };
};

/** More bugs are found than wanted; the most varied of them stay. */
function chooseVaried(results: Results, limit: number): Results {
  const wanted = limit - draftsOf(results.history).length;
  const chosen = new Set(mostVaried(draftsOf(results.injection), wanted));
  const judge = (result: AttemptResult): AttemptResult =>
    'draft' in result && !chosen.has(result.draft) ? { skipped: 'like others that were taken' } : result;
  return { ...results, injection: results.injection.map(judge) };
}

/** Only the sources that were asked for. */
const countOf = (results: Results, { sources }: BuildOptions) =>
  countFunnel(Object.fromEntries(sources.map((source) => [source, results[source]])));

function withoutQuarantined(draft: TaskDraft, quarantine: Quarantine): AttemptResult {
  const isSteady = (test: string) => !quarantine.has(test);
  const failToPass = draft.failToPass.filter(isSteady);
  const passToPass = draft.passToPass.filter(isSteady);
  if (failToPass.length === 0 || passToPass.length === 0) return { flaky: true };
  return { draft: { ...draft, failToPass, passToPass, failures: draft.failures.filter(({ id }) => isSteady(id)) } };
}

function cacheKey(environment: RepositoryEnvironment, options: BuildOptions): string {
  const { repository, baseTree, suites } = environment;
  const facts = [
    FORMAT,
    repository.headCommit,
    baseTree,
    suites.name,
    suites.parts.map(({ root }) => root),
    { ...options, concurrency: 0 },
  ];
  return createHash('sha256').update(JSON.stringify(facts)).digest('hex');
}

/** Null where nothing whole is stored, or something else. */
async function readStoredWith(environment: RepositoryEnvironment, key: string): Promise<BuiltTasks | null> {
  try {
    const stored = await readBuilt(environment.stateFolder);
    return stored.key === key ? stored : null;
  } catch (error) {
    if (error instanceof WhetstoneError && error.kind === 'bad-input') return null;
    throw error;
  }
}

function noTask(funnel: Funnel, isOutOfTime: boolean): WhetstoneError {
  const reasons = Object.entries({ ...funnel.skipped, ...funnel.invalid }).sort(([, a], [, b]) => b - a);
  const [most] = reasons;
  if (isOutOfTime) {
    const tried = most
      ? say`No task was found in time among ${funnel.found} candidates; most often: ${most[0]} (${most[1]}).`
      : say`No task was found in time among ${funnel.found} candidates.`;
    return badInput(tried, 'Allow more time, or make the tests faster.');
  }
  if (most === undefined) {
    return badInput(
      'No place for a task was found: no source in JavaScript, TypeScript, Python, Go, Rust or Java, and no commit to learn from.',
      'Look at another repository.',
    );
  }
  return badInput(
    say`No task survived of ${funnel.found} candidates; most often: ${most[0]} (${most[1]}).`,
    'Add tests that cover more of the source, or look at more commits.',
  );
}
