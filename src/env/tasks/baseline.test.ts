import { describe, expect, it } from 'vitest';
import { WhetstoneError } from '../../trajectory/errors.js';
import type { TestReport } from '../testing/testRunner.js';
import { measureBaseline } from './baseline.js';
import { reportOf, ScriptedWorkspaces } from './scriptedEnvironment.testing.js';

const settings = { times: 2, timeoutMs: 1000, concurrency: 2 };

describe('measureBaseline', () => {
  it('finds the tests that do not give the same result each time', async () => {
    const workspaces = new ScriptedWorkspaces([
      reportOf({ a: 'passed', b: 'passed' }),
      reportOf({ a: 'passed', b: 'failed' }),
    ]);
    const baseline = await measureBaseline(workspaces.environment(), settings);
    expect(baseline.flaky).toEqual(['b']);
    expect(baseline.reports).toHaveLength(2);
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
    [
      'needs a service',
      reportOf({ a: 'failed' }, 'completed', 'connect ECONNREFUSED 127.0.0.1:5432'),
      'The tests of node:test need PostgreSQL at 127.0.0.1:5432, which cannot be reached where they run.',
    ],
    ['hangs', reportOf({ a: 'passed' }, 'timed-out'), 'The tests did not end within 1 s.'],
  ])('refuses, in one line, a suite that %s', async (_name, report, words) => {
    const workspaces = new ScriptedWorkspaces(() => report);
    const error: unknown = await measureBaseline(workspaces.environment(), settings).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(WhetstoneError);
    expect((error as WhetstoneError).line.startsWith(words)).toBe(true);
    expect((error as WhetstoneError).exitCode).toBe(2);
    expect(workspaces.open).toBe(0);
  });

  it('runs a slow suite once, and leaves the rest to those who grade by a part of it', async () => {
    const report = { ...reportOf({ a: 'passed' }), durationMs: 61_000 };
    const workspaces = new ScriptedWorkspaces([report]);
    expect((await measureBaseline(workspaces.environment(), settings)).reports).toHaveLength(1);
  });

  it('uses the test files that end in time where the whole suite does not', async () => {
    const testFiles = ['a.test.js', 'b.test.js', 'c.test.js'];
    const ofFile = (files: readonly string[]): TestReport => {
      const hangs = files.includes('b.test.js');
      const results = hangs ? [] : files.map((file) => ({ ...reportOf({ [file]: 'passed' }).results[0], file }));
      return { ...reportOf({}), results, outcome: hangs ? 'timed-out' : 'completed' };
    };
    const environment = new ScriptedWorkspaces(ofFile).environment(testFiles);
    const baseline = await measureBaseline(environment, settings);
    expect(baseline.testFiles).toEqual(['a.test.js', 'c.test.js']);
    expect(baseline.reports).toHaveLength(1);
    expect(baseline.leftOut).toEqual([
      'The tests did not end within 1 s, so 2 of 3 test files are used. Allow them more time with --test-seconds.',
    ]);
  });

  it('runs again what crashed once', async () => {
    const report = reportOf({ a: 'passed' });
    const workspaces = new ScriptedWorkspaces([report, reportOf({}, 'crashed'), report, report, report]);
    const baseline = await measureBaseline(workspaces.environment(), { ...settings, times: 3 });
    expect(baseline.reports).toHaveLength(3);
    expect(baseline.leftOut).toEqual([]);
    expect(workspaces.open).toBe(0);
  });

  it('says which tests need a service', async () => {
    const mixed = reportOf({ a: 'passed', b: 'failed' }, 'completed', 'connect ECONNREFUSED ::1:6379');
    const baseline = await measureBaseline(new ScriptedWorkspaces([mixed, mixed]).environment(), settings);
    expect(baseline.leftOut).toEqual(['Tests left out since they need Redis at ::1:6379: 1.']);
  });

  it('goes on where some tests fail', async () => {
    const report = reportOf({ a: 'passed', b: 'failed' });
    const baseline = await measureBaseline(new ScriptedWorkspaces([report, report]).environment(), settings);
    expect(baseline.flaky).toEqual([]);
  });
});
