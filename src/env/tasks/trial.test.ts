import { describe, expect, it } from 'vitest';
import type { TestReport } from '../testing/testRunner.js';
import { reportOf, ScriptedWorkspaces } from './scriptedEnvironment.testing.js';
import { runSoundTree, tryBrokenTree } from './trial.js';

const settings = { files: ['a.test.js'], times: 2, timeoutMs: 1000 };
const passing = reportOf({ a: 'passed', b: 'passed' });
const broken = reportOf({ a: 'failed', b: 'passed' });
const sound = [passing.results, passing.results];

describe('tryBrokenTree', () => {
  it('takes a bug that the same tests notice each time', async () => {
    const workspaces = new ScriptedWorkspaces([broken, broken]);
    expect(await tryBrokenTree(workspaces.next, sound, settings)).toEqual({
      kind: 'valid',
      verdict: { failToPass: ['a'], passToPass: ['b'], flaky: [] },
      failures: [{ id: 'a', message: 'a is wrong\nat a.js:1' }],
    });
    expect(workspaces).toMatchObject({ opened: 2, open: 0 });
  });

  it.each<[string, TestReport, object]>([
    ['no test notices', passing, { kind: 'invalid', reason: 'no test notices' }],
    ['every test notices', reportOf({ a: 'failed', b: 'failed' }), { kind: 'invalid', reason: 'no test still passes' }],
    ['hangs the tests', reportOf({}, 'timed-out'), { kind: 'invalid', reason: 'the tests timed out' }],
    ['crashes the tests', reportOf({}, 'crashed'), { kind: 'invalid', reason: 'the test run crashed' }],
  ])('gives up after one run where the bug is one that %s', async (_name, report, result) => {
    const workspaces = new ScriptedWorkspaces([report]);
    expect(await tryBrokenTree(workspaces.next, sound, settings)).toEqual(result);
    expect(workspaces).toMatchObject({ opened: 1, open: 0 });
  });

  it('calls a bug flaky that only one of the runs notices', async () => {
    const workspaces = new ScriptedWorkspaces([broken, passing]);
    expect(await tryBrokenTree(workspaces.next, sound, settings)).toEqual({ kind: 'flaky' });
  });

  it('counts no test whose result differs between runs of the sound tree', async () => {
    const workspaces = new ScriptedWorkspaces([broken]);
    const shaky = [passing.results, broken.results];
    expect(await tryBrokenTree(workspaces.next, shaky, settings)).toEqual({
      kind: 'invalid',
      reason: 'no test notices',
    });
  });

  it('is cancelled before a tree is opened', async () => {
    const workspaces = new ScriptedWorkspaces([broken]);
    const signal = AbortSignal.abort();
    await expect(tryBrokenTree(workspaces.next, sound, { ...settings, signal })).rejects.toMatchObject({
      kind: 'cancelled',
    });
    expect(workspaces.opened).toBe(0);
  });
});

describe('runSoundTree', () => {
  it('gives the runs, or why there are none', async () => {
    expect(await runSoundTree(new ScriptedWorkspaces([passing, passing]).next, settings)).toEqual({ runs: sound });
    expect(await runSoundTree(new ScriptedWorkspaces([reportOf({}, 'crashed')]).next, settings)).toEqual({
      reason: 'with its oracle the test run crashed',
    });
  });
});
