import { cancelled } from '../../trajectory/errors.js';
import type { TestReport } from '../testing/testRunner.js';
import type { Workspace } from '../workspace/workspace.js';
import { compareRuns, failureOf, type Run, type Verdict } from './verdict.js';

/** What became of a candidate. `wavering`: tests whose result differs between runs of the same tree, by the kind of tree. */
export type TrialResult = (
  | { readonly kind: 'valid'; readonly verdict: Verdict; readonly failures: readonly { id: string; message: string }[] }
  | { readonly kind: 'invalid'; readonly reason: string }
  | { readonly kind: 'flaky' }
) & { readonly wavering: { readonly sound: readonly string[]; readonly broken: readonly string[] } };

/** A candidate that is a task. */
export type ValidTrial = Extract<TrialResult, { readonly kind: 'valid' }>;

/** How the tests of a tree are run once. */
export interface RunSettings {
  readonly files: readonly string[];
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

/** Why a bug that breaks no test is no task. */
export const SILENT = 'no test notices';

const REASONS: Readonly<Record<Exclude<TestReport['outcome'], 'completed'>, string>> = {
  'no-tests': 'no tests ran',
  crashed: 'the test run crashed',
  'timed-out': 'the tests timed out',
};

/** Why the report gives no results to compare; null where it does. */
export const troubleOf = ({ outcome }: TestReport): string | null =>
  outcome === 'completed' ? null : REASONS[outcome];

/** The n-th run, counted from 0, of a tree's tests in a fresh copy of it. */
export type RunTree = (run: number) => Promise<TestReport>;

/**
 * Runs the tests of a sound tree and of its broken one, the same number of times, and compares them. The first pair of runs
 * decides alone where it already shows that this is no task.
 */
export async function tryTrees(sound: RunTree, broken: RunTree, times: number): Promise<TrialResult> {
  const runs: { readonly broken: Run[]; readonly sound: Run[] } = { broken: [], sound: [] };
  for (let run = 0; run < times; run++) {
    const { wavering } = compareRuns(runs.broken, runs.sound);
    const control = await sound(run);
    const soundTrouble = troubleOf(control);
    if (soundTrouble !== null) return { kind: 'invalid', reason: `with its oracle ${soundTrouble}`, wavering };
    const report = await broken(run);
    const trouble = troubleOf(report);
    if (trouble !== null) return { kind: 'invalid', reason: trouble, wavering };
    runs.sound.push(control.results);
    runs.broken.push(report.results);
    const verdict = compareRuns(runs.broken, runs.sound);
    if (verdict.failToPass.length === 0) {
      if (run === 0) return { kind: 'invalid', reason: SILENT, wavering };
      return { kind: 'flaky', wavering: verdict.wavering };
    }
    if (verdict.passToPass.length === 0) {
      return { kind: 'invalid', reason: 'no test still passes', wavering: verdict.wavering };
    }
  }
  const verdict = compareRuns(runs.broken, runs.sound);
  const failures = verdict.failToPass.map((id) => failureOf(id, runs.broken[0], runs.sound[0]));
  return { kind: 'valid', verdict, failures, wavering: verdict.wavering };
}

/** One run of the tests in a fresh copy of a tree, which is gone afterwards. */
export async function runOnce(open: () => Promise<Workspace>, settings: RunSettings): Promise<TestReport> {
  if (settings.signal?.aborted) throw cancelled();
  const workspace = await open();
  try {
    const { files, timeoutMs, signal } = settings;
    const report = await workspace.runTests({ files, timeoutMs, signal });
    if (signal?.aborted) throw cancelled();
    return report;
  } finally {
    await workspace.dispose();
  }
}
