import { describe, expect, it } from 'vitest';
import type { TestReport } from '../testing/testRunner.js';
import { reportOf, ScriptedWorkspaces } from './scriptedEnvironment.testing.js';
import { runOnce, tryTrees, type RunTree } from './trial.js';

const passing = reportOf({ a: 'passed', b: 'passed' });
const broken = reportOf({ a: 'failed', b: 'passed' });
const none = { sound: [], broken: [] };
const always =
  (...reports: readonly TestReport[]): RunTree =>
  (run) =>
    Promise.resolve(reports[Math.min(run, reports.length - 1)]);

describe('tryTrees', () => {
  it('takes a bug that the same tests notice each time', async () => {
    const runs: string[] = [];
    const counted =
      (name: string, tree: RunTree): RunTree =>
      (run) => {
        runs.push(`${name} ${run}`);
        return tree(run);
      };
    expect(await tryTrees(counted('sound', always(passing)), counted('broken', always(broken)), 3)).toEqual({
      kind: 'valid',
      verdict: { failToPass: ['a'], passToPass: ['b'], wavering: none },
      failures: [{ id: 'a', message: 'a is wrong\nat a.js:1' }],
      wavering: none,
    });
    expect(runs).toEqual(['sound 0', 'broken 0', 'sound 1', 'broken 1', 'sound 2', 'broken 2']);
  });

  it.each<[string, TestReport, TestReport, string]>([
    ['no test notices', passing, passing, 'no test notices'],
    ['every test notices', passing, reportOf({ a: 'failed', b: 'failed' }), 'no test still passes'],
    ['hangs the tests', passing, reportOf({}, 'timed-out'), 'the tests timed out'],
    ['crashes the tests', passing, reportOf({}, 'crashed'), 'the test run crashed'],
    ['crashes also where it is mended', reportOf({}, 'crashed'), broken, 'with its oracle the test run crashed'],
  ])('gives up after one pair of runs where the bug is one that %s', async (_name, sound, bad, reason) => {
    const later = always(bad, broken);
    expect(await tryTrees(always(sound, passing), later, 3)).toEqual({ kind: 'invalid', reason, wavering: none });
  });

  it('calls a bug flaky that only one of the runs notices, and names the test', async () => {
    expect(await tryTrees(always(passing), always(broken, passing), 2)).toEqual({
      kind: 'flaky',
      wavering: { sound: [], broken: ['a'] },
    });
  });

  it('grades by no test that wavers in either tree, and names it', async () => {
    const sound = [
      { a: 'passed', b: 'passed', c: 'passed', d: 'passed' },
      { a: 'passed', b: 'passed', c: 'failed', d: 'passed' },
    ] as const;
    const bad = [
      { a: 'failed', b: 'passed', c: 'failed', d: 'failed' },
      { a: 'failed', b: 'passed', c: 'failed', d: 'passed' },
    ] as const;
    const result = await tryTrees(
      always(...sound.map((one) => reportOf(one))),
      always(...bad.map((one) => reportOf(one))),
      2,
    );
    expect(result).toMatchObject({
      kind: 'valid',
      verdict: { failToPass: ['a'], passToPass: ['b'] },
      wavering: { sound: ['c'], broken: ['d'] },
    });
  });
});

describe('runOnce', () => {
  it('runs in a fresh tree that is gone afterwards', async () => {
    const workspaces = new ScriptedWorkspaces([broken]);
    expect(await runOnce(workspaces.next, { files: ['a.test.js'], timeoutMs: 1000 })).toBe(broken);
    expect(workspaces).toMatchObject({ opened: 1, open: 0 });
  });

  it('is cancelled before a tree is opened', async () => {
    const workspaces = new ScriptedWorkspaces([broken]);
    const settings = { files: [], timeoutMs: 1000, signal: AbortSignal.abort() };
    await expect(runOnce(workspaces.next, settings)).rejects.toMatchObject({ kind: 'cancelled' });
    expect(workspaces.opened).toBe(0);
  });
});
