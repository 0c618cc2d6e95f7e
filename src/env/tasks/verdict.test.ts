import { describe, expect, it } from 'vitest';
import type { TestResult } from '../testing/testRunner.js';
import { compareRuns, failureOf, flakyTests } from './verdict.js';

/** A run written as `name: status`; ids are the names. */
const run = (results: Record<string, TestResult['status']>): TestResult[] =>
  Object.entries(results).map(([name, status]) => ({
    id: name,
    file: 'a.test.js',
    name,
    status,
    message: status === 'failed' ? `${name} is wrong` : '',
  }));

const none = { sound: [], broken: [] };

describe('compareRuns', () => {
  it('finds what the bug breaks and what it leaves whole', () => {
    const sound = run({ a: 'passed', b: 'passed', c: 'failed', d: 'skipped' });
    const broken = run({ a: 'failed', b: 'passed', c: 'failed', d: 'skipped' });
    expect(compareRuns([broken, broken], [sound, sound])).toEqual({
      failToPass: ['a'],
      passToPass: ['b'],
      wavering: none,
    });
  });

  it('counts a test that is missing in the broken tree as failing', () => {
    const verdict = compareRuns([run({ b: 'passed' })], [run({ a: 'passed', b: 'passed' })]);
    expect(verdict.failToPass).toEqual(['a']);
  });

  it('does not count a test that the bug skips', () => {
    const verdict = compareRuns([run({ a: 'skipped', b: 'passed' })], [run({ a: 'passed', b: 'passed' })]);
    expect(verdict).toEqual({ failToPass: [], passToPass: ['b'], wavering: none });
  });

  it('keeps tests apart that differ between runs of the same tree', () => {
    const sound = run({ a: 'passed', b: 'passed', c: 'passed' });
    const verdict = compareRuns(
      [run({ a: 'failed', b: 'passed', c: 'failed' }), run({ a: 'passed', b: 'passed' })],
      [sound, sound],
    );
    expect(verdict).toEqual({ failToPass: [], passToPass: ['b'], wavering: { sound: [], broken: ['a', 'c'] } });
  });
});

describe('flakyTests', () => {
  it('names tests that change or vanish', () => {
    expect(flakyTests([run({ a: 'passed', b: 'passed' }), run({ a: 'failed', b: 'passed', c: 'passed' })])).toEqual([
      'a',
      'c',
    ]);
  });
});

describe('failureOf', () => {
  it('takes the message of the file where the test itself did not run', () => {
    const broken = run({ 'a.test.js': 'failed' });
    const sound = run({ a: 'passed' });
    expect(failureOf('a', broken, sound)).toEqual({ id: 'a', message: 'a.test.js is wrong' });
    expect(failureOf('a', [], sound).message).toBe('The test does not run.');
  });
});
