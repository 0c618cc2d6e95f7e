import { describe, expect, it } from 'vitest';
import { WhetstoneError } from '../../trajectory/errors.js';
import type { TestReport } from '../testing/testRunner.js';
import { measureBaseline } from './baseline.js';
import { reportOf, ScriptedWorkspaces } from './scriptedEnvironment.testing.js';

describe('measureBaseline', () => {
  it('finds the tests that do not give the same result each time', async () => {
    const workspaces = new ScriptedWorkspaces([
      reportOf({ a: 'passed', b: 'passed' }),
      reportOf({ a: 'passed', b: 'failed' }),
    ]);
    const baseline = await measureBaseline(workspaces.environment(), 2, 1000);
    expect(baseline.flaky).toEqual(['b']);
    expect(baseline.runs).toHaveLength(2);
    expect(workspaces.open).toBe(0);
  });

  it.each<[string, TestReport, string]>([
    [
      'fails in every test',
      reportOf({ a: 'failed', b: 'failed' }),
      'Every test fails before anything was changed, first a: a is wrong',
    ],
    ['skips every test', reportOf({ a: 'skipped' }), 'Every test is skipped.'],
    ['has no tests', reportOf({}, 'no-tests'), 'node:test found no tests in /repository.'],
    ['crashes', reportOf({}, 'crashed'), 'The tests did not run to their end: last line'],
    ['hangs', reportOf({ a: 'passed' }, 'timed-out'), 'The tests did not end within 1 s.'],
  ])('refuses, in one line, a suite that %s', async (_name, report, words) => {
    const workspaces = new ScriptedWorkspaces([report]);
    const error: unknown = await measureBaseline(workspaces.environment(), 2, 1000).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(WhetstoneError);
    expect((error as WhetstoneError).line.startsWith(words)).toBe(true);
    expect((error as WhetstoneError).exitCode).toBe(2);
    expect(workspaces.open).toBe(0);
  });

  it('goes on where some tests fail', async () => {
    const report = reportOf({ a: 'passed', b: 'failed' });
    const baseline = await measureBaseline(new ScriptedWorkspaces([report, report]).environment(), 2, 1000);
    expect(baseline.flaky).toEqual([]);
  });
});
