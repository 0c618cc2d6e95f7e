import { describe, expect, it } from 'vitest';
import { mergeReports } from './mergeReports.js';
import { packageRoots } from './packageRoots.js';
import type { DetectedRunner, TestReport, TestRunner } from './testRunner.js';
import { TestSuites } from './testSuites.js';

const part = (name: string, root: string, testFiles: string[], isTestFile = (_: string) => false): DetectedRunner => ({
  runner: { name, isTestFile, detect: () => Promise.resolve([]) } as unknown as TestRunner,
  root,
  testFiles,
});

describe('the test suites of a repository', () => {
  it('give a file that two runners claim to the first', () => {
    const suites = new TestSuites(
      [part('jest', '.', ['a', 'b']), part('mocha', '.', ['b', 'c']), part('x', '.', ['a'])],
      [],
    );
    expect(suites.parts.map(({ runner, testFiles }) => [runner.name, testFiles])).toEqual([
      ['jest', ['a', 'b']],
      ['mocha', ['c']],
    ]);
    expect(suites.name).toBe('jest, mocha');
    expect(suites.testFiles).toEqual(['a', 'b', 'c']);
  });

  it('select by the runner that found a file, else by the one in whose folder it would be a test', () => {
    const isTest = (file: string) => file.endsWith('.test.js');
    const suites = new TestSuites(
      [
        part('pytest', '.', ['test_a.py']),
        part('jest', 'web', ['web/a.test.js'], isTest),
        part('jest', 'api', ['api/a.test.js'], isTest),
      ],
      [],
    );
    const chosen = suites.select(['api/new.test.js', 'web/a.test.js', 'elsewhere.txt', 'web/b.test.js']);
    expect(chosen.map(({ detected, files }) => [detected.root, files])).toEqual([
      ['.', ['elsewhere.txt']],
      ['web', ['web/a.test.js', 'web/b.test.js']],
      ['api', ['api/new.test.js']],
    ]);
    expect(suites.root).toBe('.');
    expect(suites.name).toBe('pytest, jest');
  });

  it('go on without a part that cannot be run, and say why', () => {
    const suites = new TestSuites([part('jest', '.', ['a']), part('pytest', '.', ['b'])], []);
    const rest = suites.without(({ runner }) => runner.name === 'jest', ['Jest is not installed.']);
    expect(rest.testFiles).toEqual(['b']);
    expect(rest.unusable).toEqual(['Jest is not installed.']);
  });
});

describe('the report of several runners', () => {
  const report = (outcome: TestReport['outcome'], durationMs = 1): TestReport => ({
    outcome,
    results: [{ id: outcome, file: outcome, name: outcome, status: 'passed', message: '' }],
    output: outcome,
    durationMs,
  });

  it.each([
    [['completed', 'completed'], 'completed'],
    [['completed', 'no-tests'], 'completed'],
    [['crashed', 'completed'], 'crashed'],
    [['crashed', 'timed-out'], 'timed-out'],
    [['no-tests', 'no-tests'], 'no-tests'],
    [[], 'no-tests'],
  ] as [TestReport['outcome'][], TestReport['outcome']][])('of %j is %s', (outcomes, expected) => {
    expect(mergeReports(outcomes.map((outcome) => report(outcome))).outcome).toBe(expected);
  });

  it('has all results and the whole time', () => {
    const merged = mergeReports([report('completed', 2), report('crashed', 3)]);
    expect(merged.results.map(({ id }) => id)).toEqual(['completed', 'crashed']);
    expect(merged.durationMs).toBe(5);
  });
});

describe('the packages of a repository', () => {
  it('are the folders of their manifests, the outer first, without those that are tests’ material', () => {
    const files = [
      'packages/b/x/package.json',
      'packages/b/package.json',
      'packages/a/package.json',
      'test/fixtures/c/package.json',
    ];
    expect(packageRoots(files, ['package.json'])).toEqual(['.', 'packages/a', 'packages/b', 'packages/b/x']);
  });
});
