import { createHash } from 'node:crypto';
import { badInput, WhetstoneError } from '../../trajectory/errors.js';
import type { Funnel, Task, TaskSource, TaskSplit } from '../../trajectory/task.js';
import type { RepositoryEnvironment } from '../environment.js';
import type { Attempt, AttemptResult, TaskDraft } from './attempt.js';
import { measureBaseline } from './baseline.js';
import { historyAttempts } from './historyAttempts.js';
import { injectionAttempts } from './injectionAttempts.js';
import { countFunnel, searchTasks } from './search.js';
import { splitTasks } from './split.js';
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
}

export const defaultBuildOptions: BuildOptions = {
  sources: ['history', 'injection'],
  limit: 60,
  historyLimit: 300,
  seed: 1,
  validationRuns: 2,
  concurrency: 2,
  maxSeconds: null,
  testTimeoutMs: 300_000,
};

export interface BuildProgress {
  /** Tasks found so far of those wanted. */
  readonly done: number;
  readonly total: number;
  readonly kept: number;
  /** Candidates looked at so far. */
  readonly tried: number;
  readonly message: string;
}

export interface BuildHooks {
  readonly onProgress?: (progress: BuildProgress) => void;
  readonly signal?: AbortSignal;
}

/** Changed whenever the same repository and options would give other tasks. */
const FORMAT = 1;

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
    hooks.onProgress?.({ done: progress.kept, total: options.limit, ...progress });
  report({ kept: 0, tried: 0, message: 'Running the tests for a baseline' });
  const baseline = await measureBaseline(environment, options.validationRuns, options.testTimeoutMs, hooks.signal);
  const settings = {
    ...options,
    // A broken tree may be slow, but one that takes many times as long hangs.
    timeoutMs: Math.min(options.testTimeoutMs, 10_000 + 5 * baseline.durationMs),
    signal: hooks.signal,
  };

  const started = Date.now();
  const deadlineAfter = (share: number) =>
    options.maxSeconds === null ? Infinity : started + share * options.maxSeconds * 1000;
  const results: AttemptResult[] = [];
  const drafts: TaskDraft[] = [];
  const search = async (attempts: AsyncGenerator<Attempt>, limit: number, deadline: number) => {
    const before = { tried: results.length, kept: drafts.length };
    const found = await searchTasks(
      attempts,
      { limit, concurrency: options.concurrency, deadline, signal: hooks.signal },
      ({ tried, kept, message }) => report({ tried: before.tried + tried, kept: before.kept + kept, message }),
    );
    results.push(...found.results);
    drafts.push(...found.drafts);
  };
  const injects = options.sources.includes('injection');
  if (options.sources.includes('history')) {
    const limit = injects ? Math.floor(options.limit / 2) : options.limit;
    await search(historyAttempts(environment, settings), limit, deadlineAfter(injects ? 0.5 : 1));
  }
  if (injects) {
    const limit = options.limit - drafts.length;
    await search(injectionAttempts(environment, baseline, settings), limit, deadlineAfter(1));
  }

  const funnel = countFunnel(results);
  if (drafts.length === 0) throw noTask(funnel, Date.now() > deadlineAfter(1));
  const { splits, note } = splitTasks(drafts, options.seed);
  const tasks = numbered(drafts).flatMap(({ draft, id }, index) => {
    const split = splits[index];
    return split === null ? [] : [toTask(environment, draft, id, split)];
  });
  const notes = [...baseline.leftOut, ...(note === null ? [] : [note]), ...quarantineNote(baseline.flaky)];
  const dropped = drafts.length - tasks.length;
  const skipped = dropped === 0 ? funnel.skipped : { ...funnel.skipped, 'spans train and held-out': dropped };
  const built = { tasks, funnel: { ...funnel, skipped, kept: tasks.length }, quarantined: baseline.flaky, notes };
  await writeTasks(environment.stateFolder, key, built);
  return built;
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
  const main = reasons.length === 0 ? '' : `; most often: ${reasons[0][0]} (${reasons[0][1]})`;
  if (isOutOfTime) {
    const tried = `No task was found in time among ${funnel.found} candidates${main}.`;
    return badInput(tried, 'Allow more time, or make the tests faster.');
  }
  if (reasons.length === 0) {
    return badInput(
      'No place for a task was found: no source in JavaScript, TypeScript or Python, and no commit to learn from.',
      'Look at another repository.',
    );
  }
  const tried = `No task survived of ${funnel.found} candidates${main}.`;
  return badInput(tried, 'Add tests that cover more of the source, or look at more commits.');
}

/** Gives each draft its id: repository, commit, kind, and a number within the kind. */
function numbered(drafts: readonly TaskDraft[]): { draft: TaskDraft; id: (repo: string) => string }[] {
  const counts = new Map<string, number>();
  return drafts.map((draft) => {
    const { commit, kind } = draft.label;
    const name = `${commit.slice(0, 8)}.${kind}`;
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return { draft, id: (repo) => `${fileName(repo)}__${name}-${count}` };
  });
}

/** Only what every file system takes. */
function fileName(repo: string): string {
  const plain = repo
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[-.]+|[-.]+$/g, '');
  return plain === '' ? 'repository' : plain.slice(0, 60);
}

function toTask(
  environment: RepositoryEnvironment,
  draft: TaskDraft,
  id: (repo: string) => string,
  split: TaskSplit,
): Task {
  const { repository, suites } = environment;
  return {
    instance_id: id(repository.name),
    repo: repository.name,
    base_commit: draft.baseCommit,
    environment_setup_commit: draft.baseCommit,
    version: '',
    created_at: draft.date,
    problem_statement: draft.statement,
    hints_text: '',
    patch: draft.patch,
    test_patch: draft.testPatch,
    FAIL_TO_PASS: draft.failToPass,
    PASS_TO_PASS: draft.passToPass,
    whetstone: {
      source: draft.source,
      split,
      base_tree: draft.baseTree,
      start_patch: draft.startPatch,
      runner: suites.name,
      test_root: suites.root,
      test_files: draft.testFiles,
      ...(draft.site === undefined ? {} : { operator: draft.label.kind, site: draft.site }),
    },
  };
}

function quarantineNote(flaky: readonly string[]): string[] {
  if (flaky.length === 0) return [];
  const shown = flaky.slice(0, 3).join(', ');
  return [`${flaky.length} tests do not give the same result each time and are left out: ${shown}.`];
}
