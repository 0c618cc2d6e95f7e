import type { RepositoryEnvironment } from '../environment.js';
import { applyUnifiedDiff } from '../reward/unifiedPatch.js';
import type { FileChange } from '../workspace/workspace.js';
import type { AttemptResult, TaskDraft } from './attempt.js';
import type { AttemptSettings } from './attemptSettings.js';
import type { BugCandidate } from './injection/candidates.js';
import { areAllNeeded, combineBugs, type ProvenBug } from './injection/severalBugs.js';
import type { SoundRuns } from './soundRuns.js';
import { injectionStatement } from './statement.js';
import { runOnce, troubleOf, tryTrees } from './trial.js';
import { unifiedDiff } from './unifiedDiff.js';
import { compareRuns } from './verdict.js';

/** What trying a bug needs. */
export interface TrialContext {
  readonly environment: RepositoryEnvironment;
  readonly settings: AttemptSettings;
  readonly soundRuns: SoundRuns;
  /** Of the head commit. */
  readonly date: string;
}

/** A hanging test is told from a slow one by this much more time than the sound tree takes. */
const timeoutAfter = (soundMs: number) => 10_000 + 4 * soundMs;

/** Tries a bug by itself. `files`: the tests that it would be graded by. */
export async function tryBug(
  context: TrialContext,
  bug: BugCandidate,
  files: readonly string[],
): Promise<AttemptResult> {
  const change = { path: bug.path, before: bug.before, after: bug.after };
  const result = await tryChanges(context, [change], files, `${bug.path}:${bug.line} ${bug.operator}`);
  if ('refused' in result) return result.refused;
  const { failToPass } = result.facts;
  const bugs = [{ operator: bug.operator, file: bug.path, line: bug.line, breaks: failToPass }];
  return { draft: { ...result.facts, ...labels(context, [bug], bug.operator), bugs } };
}

/** Which of these test files have a test that a bug breaks, by one run of them; none where the run says nothing. */
export async function filesThatNotice(
  { environment, settings, soundRuns }: TrialContext,
  { path, before, after }: BugCandidate,
  files: readonly string[],
): Promise<readonly string[]> {
  const sound = await soundRuns.get(files, 0);
  const open = () => environment.openWorkspaceFromTree(environment.baseTree, '', [{ path, before, after }]);
  const timeoutMs = Math.min(settings.timeoutMs, timeoutAfter(sound.durationMs));
  const broken = await runOnce(open, { files, timeoutMs, signal: settings.signal });
  if (troubleOf(sound) !== null || troubleOf(broken) !== null) return [];
  const failing = new Set(compareRuns([broken.results], [sound.results]).failToPass);
  return [...new Set(sound.results.filter(({ id }) => failing.has(id)).map(({ file }) => file))];
}

/** Tries bugs together, each of which is a task by itself. They are one only if each of them is needed. */
export async function tryTogether(
  context: TrialContext,
  proven: readonly ProvenBug<TaskDraft>[],
): Promise<AttemptResult> {
  const bugs = proven.map(({ bug }) => bug);
  const changes = combineBugs(bugs);
  if (changes === null) return { invalid: 'its bugs do not go together' };
  const files = [...new Set(proven.flatMap(({ draft }) => draft.testFiles))].sort();
  const result = await tryChanges(context, changes, files, bugs.map(({ path, line }) => `${path}:${line}`).join(' '));
  if ('refused' in result) return result.refused;
  if (!areAllNeeded(proven, result.facts.failToPass)) return { invalid: 'one of its bugs hides another' };
  return {
    draft: {
      ...result.facts,
      ...labels(context, bugs, 'several-bugs'),
      bugs: proven.map(({ bug, breaks }) => ({ operator: bug.operator, file: bug.path, line: bug.line, breaks })),
    },
  };
}

type Labels = Pick<TaskDraft, 'source' | 'baseCommit' | 'baseTree' | 'date' | 'testPatch' | 'label' | 'scope'>;
type Facts = Omit<TaskDraft, keyof Labels | 'bugs'>;

function labels({ environment, date }: TrialContext, bugs: readonly BugCandidate[], kind: string): Labels {
  const { repository, baseTree } = environment;
  const commit = repository.headCommit;
  return {
    source: 'injection',
    baseCommit: commit,
    baseTree,
    date,
    testPatch: '',
    label: { commit, kind },
    scope: bugs.map(({ path, scopeLine }) => `${path}:${scopeLine}`).join(' '),
  };
}

async function tryChanges(
  { environment, settings, soundRuns }: TrialContext,
  changes: readonly FileChange[],
  files: readonly string[],
  title: string,
): Promise<{ readonly refused: AttemptResult } | { readonly facts: Facts }> {
  const { repository, baseTree } = environment;
  const back = changes.map(({ path, before, after }) => ({ path, before: after, after: before }));
  const startPatch = unifiedDiff(changes);
  const patch = unifiedDiff(back);
  if (!(await leadsTo(startPatch, changes)) || !(await leadsTo(patch, back))) {
    return { refused: { invalid: 'its patch does not apply' } };
  }
  const sound = (run: number) => soundRuns.get(files, run);
  const broken = async (run: number) => {
    // Only what passes the first run gets a start tree of its own, as its episodes will have.
    const open = () =>
      run === 0
        ? environment.openWorkspaceFromTree(baseTree, '', changes)
        : environment.openWorkspaceFromTree(baseTree, startPatch);
    const timeoutMs = Math.min(settings.timeoutMs, timeoutAfter((await sound(run)).durationMs));
    return runOnce(open, { files, timeoutMs, signal: settings.signal });
  };
  const result = await tryTrees(sound, broken, settings.validationRuns);
  settings.quarantine.noteSound(result.wavering.sound);
  settings.quarantine.noteBroken(title, result.wavering.broken);
  if (result.kind === 'flaky') return { refused: { flaky: true } };
  if (result.kind === 'invalid') return { refused: { invalid: result.reason } };
  return {
    facts: {
      startPatch,
      patch,
      statement: (failing) => injectionStatement(repository.name, failing, changes),
      failures: result.failures,
      failToPass: result.verdict.failToPass,
      passToPass: result.verdict.passToPass,
      testFiles: files,
      files: changes.map(({ path }) => path),
    },
  };
}

/** Is the patch, read back, the changes that it was made of? */
async function leadsTo(patch: string, changes: readonly FileChange[]): Promise<boolean> {
  const before = (path: string) => changes.find((change) => change.path === path)?.before ?? null;
  const read = await applyUnifiedDiff(patch, (path) => Promise.resolve(before(path))).catch(() => []);
  const after = new Map(read.map((change) => [change.path, change.after]));
  return read.length === changes.length && changes.every((change) => after.get(change.path) === change.after);
}
