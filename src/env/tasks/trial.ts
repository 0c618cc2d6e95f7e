import { cancelled } from '../../trajectory/errors.js';
import type { TestReport } from '../testing/testRunner.js';
import type { Workspace } from '../workspace/workspace.js';
import { compareRuns, failureOf, type Run, type Verdict } from './verdict.js';

/** What became of a candidate. */
export type TrialResult =
  | { readonly kind: 'valid'; readonly verdict: Verdict; readonly failures: readonly { id: string; message: string }[] }
  | { readonly kind: 'invalid'; readonly reason: string }
  | { readonly kind: 'flaky' };

export interface TrialSettings {
  readonly files: readonly string[];
  readonly times: number;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

const REASONS: Readonly<Record<Exclude<TestReport['outcome'], 'completed'>, string>> = {
  'no-tests': 'no tests ran',
  crashed: 'the test run crashed',
  'timed-out': 'the tests timed out',
};

/**
 * Runs the tests of a broken tree, in a fresh copy each time, and compares them with the sound tree's. The first run
 * decides alone where no test notices.
 */
export async function tryBrokenTree(
  open: () => Promise<Workspace>,
  sound: readonly Run[],
  settings: TrialSettings,
): Promise<TrialResult> {
  const broken: Run[] = [];
  for (let run = 0; run < settings.times; run++) {
    const report = await runOnce(open, settings);
    if (report.outcome !== 'completed') return { kind: 'invalid', reason: REASONS[report.outcome] };
    broken.push(report.results);
    const verdict = compareRuns(broken, sound);
    if (verdict.failToPass.length === 0) {
      return run === 0 ? { kind: 'invalid', reason: 'no test notices' } : { kind: 'flaky' };
    }
    if (verdict.passToPass.length === 0) return { kind: 'invalid', reason: 'no test still passes' };
  }
  const verdict = compareRuns(broken, sound);
  return { kind: 'valid', verdict, failures: verdict.failToPass.map((id) => failureOf(id, broken[0], sound[0])) };
}

/** Runs the tests of a tree that should be sound; null with the reason where they give no results. */
export async function runSoundTree(
  open: () => Promise<Workspace>,
  settings: TrialSettings,
): Promise<{ readonly runs: readonly Run[] } | { readonly reason: string }> {
  const runs: Run[] = [];
  for (let run = 0; run < settings.times; run++) {
    const report = await runOnce(open, settings);
    if (report.outcome !== 'completed') return { reason: `with its oracle ${REASONS[report.outcome]}` };
    runs.push(report.results);
  }
  return { runs };
}

async function runOnce(open: () => Promise<Workspace>, settings: TrialSettings): Promise<TestReport> {
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
