import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeTask } from '../folderEnvironment.testing.js';
import { checkWeights, compose, compositeProblem, defaultWeights } from './composite.js';
import { defaultConduct } from './conduct.js';
import { formatReward } from './formatReward.js';
import { testReward, testsOfReport } from './testReward.js';

const task = makeTask({ FAIL_TO_PASS: ['a', 'b'], PASS_TO_PASS: ['c', 'd'] });

describe('the test reward', () => {
  it('is the rate of fixed tests times the rate of kept ones', () => {
    expect(
      testReward(
        task,
        new Map([
          ['a', 'passed'],
          ['b', 'failed'],
          ['c', 'passed'],
          ['d', 'passed'],
        ]),
      ),
    ).toMatchObject({
      graded: 0.5,
      fraction: 0.75,
      resolved: false,
    });
    expect(
      testReward(
        task,
        new Map([
          ['a', 'passed'],
          ['b', 'passed'],
          ['c', 'passed'],
          ['d', 'passed'],
        ]),
      ),
    ).toMatchObject({
      graded: 1,
      resolved: true,
    });
  });

  it('counts missing and skipped tests as failed', () => {
    const { graded, resolved, tests } = testReward(
      task,
      new Map([
        ['a', 'passed'],
        ['b', 'skipped'],
        ['c', 'passed'],
      ]),
    );
    expect({ graded, resolved }).toEqual({ graded: 0.25, resolved: false });
    expect(tests).toEqual([
      { id: 'a', before: 'failed', after: 'passed' },
      { id: 'b', before: 'failed', after: 'skipped' },
      { id: 'c', before: 'passed', after: 'passed' },
      { id: 'd', before: 'passed', after: 'missing' },
    ]);
  });

  it('is 0 where no tests ran, the run broke off, or the task has no failing test', () => {
    const results = ['a', 'b', 'c', 'd'].map((id) => ({
      id,
      file: '',
      name: id,
      status: 'passed' as const,
      message: '',
    }));
    for (const outcome of ['no-tests', 'crashed', 'timed-out'] as const) {
      expect(testReward(task, testsOfReport({ outcome, results })).graded).toBe(0);
    }
    expect(testReward(task, testsOfReport({ outcome: 'completed', results })).graded).toBe(1);
    expect(testReward(makeTask(), new Map())).toMatchObject({ graded: 0, resolved: false });
  });
});

describe('the format reward', () => {
  const counters = { turns: 4, validCalls: 3, malformedCalls: 1, unknownTools: 0, invalidArguments: 0 };
  it('is the share of valid calls, and of thoughts where they were counted', () => {
    expect(formatReward(counters).score).toBe(0.75);
    expect(formatReward({ ...counters, thoughtTurns: 2 }).score).toBeCloseTo(0.7, 12);
    expect(formatReward({ ...counters, thoughtTurns: 4, malformedCalls: 0 }).score).toBe(1);
  });
  it('is 0 where nothing was called', () => {
    expect(formatReward({ ...counters, validCalls: 0, malformedCalls: 0 }).score).toBe(0);
    expect(formatReward({ ...counters, turns: 0, validCalls: 0, malformedCalls: 0, thoughtTurns: 0 }).score).toBe(0);
  });
});

describe('the composite', () => {
  it('is the weighted sum of what was measured, each component kept', () => {
    const { reward, components } = compose(
      { tests: { score: 0.5 }, similarity: { score: -1, reason: 'bad' } },
      defaultWeights,
    );
    expect(reward).toBeCloseTo(0.3, 12);
    expect(components).toEqual({
      tests: { score: 0.5, weight: 1 },
      similarity: { score: -1, weight: 0.2, reason: 'bad' },
    });
  });

  it('takes what misconduct costs from the reward, whatever its share of the weights is', () => {
    const penalties = {
      lintErrors: { score: -1, weight: 0.5, reason: '1 syntax error' },
      manyFiles: { score: 0, weight: 0.2 },
    };
    const { reward, components } = compose({ tests: { score: 1 } }, defaultWeights, penalties);
    expect(reward).toBe(0.5);
    expect(components).toEqual({ tests: { score: 1, weight: 1 }, ...penalties });
    expect(() => compose({}, defaultWeights, { odd: { score: -2, weight: 1 } })).toThrow(/internal/);
  });

  it('refuses weights that are none, and an outcome below half', () => {
    for (const weights of [
      { tests: 0.2, similarity: 0.2, format: 0.1 },
      { tests: 0, similarity: 0, format: 0 },
      { tests: Number.NaN, similarity: 0, format: 0 },
      { tests: 1, similarity: -0.1, format: 0 },
      { tests: Infinity, similarity: 0, format: 0 },
      { ...defaultWeights, conduct: { ...defaultConduct, lintErrors: -1 } },
    ]) {
      expect(() => checkWeights(weights)).toThrow(expect.objectContaining({ kind: 'bad-input' }));
    }
    checkWeights({ tests: 1, similarity: 0.5, format: 0.5 });
    checkWeights({ tests: 0.01, similarity: 0, format: 0 });
  });

  it('never turns a score that is out of range into a reward', () => {
    fc.assert(
      fc.property(fc.double(), fc.double(), fc.double(), (tests, similarity, format) => {
        const scores = { tests: { score: tests }, similarity: { score: similarity }, format: { score: format } };
        const fits = tests >= 0 && tests <= 1 && similarity >= -1 && similarity <= 1 && format >= 0 && format <= 1;
        if (fits) expect(Math.abs(compose(scores, defaultWeights).reward)).toBeLessThanOrEqual(1.3);
        else expect(() => compose(scores, defaultWeights)).toThrow(/internal/);
      }),
    );
  });

  it('that was made elsewhere is believed only where its parts can be and add up to it', () => {
    const penalties = { lintErrors: { score: -1, weight: 0.5 }, manyFiles: { score: 0, weight: 0.2 } };
    const scores = { tests: { score: 0.75 }, similarity: { score: -0.3 }, format: { score: 1 } };
    const whole = compose(scores, defaultWeights, penalties);
    const { components, reward } = whole;
    expect(compositeProblem(whole, defaultWeights)).toBeNull();
    expect(compositeProblem(whole, { tests: 1, similarity: 0.2, format: 0.1 })).toBeNull();
    const changed = (name: string, score: number, weight: number, by = 0) =>
      compositeProblem(
        { reward: reward + by, components: { ...components, [name]: { score, weight } } },
        defaultWeights,
      );
    expect(changed('tests', 7, 1, 6.25)).toBe('the component "tests" is 7, not in [0, 1]');
    expect(changed('tests', 1, 5, 4.25)).toBe('the weight of the component "tests" is 5');
    expect(changed('lintErrors', 1, 0.5, 1)).toBe('the component "lintErrors" is 1, not in [-1, 0]');
    for (const made of ['bonus', 'maxFiles', '__proto__x', 'toString'])
      expect(changed(made, 0, 5)).toBe(`the weight of the component "${made}" is 5`);
    expect(changed('tests', Number.NaN, 1)).toMatch(/is NaN, not in/);
    expect(compositeProblem({ components, reward: 1e9 }, defaultWeights)).toMatch(/^the reward is 1000000000, and/);
    expect(compositeProblem({ components, reward: Number.NaN }, defaultWeights)).toMatch(/^the reward is NaN, and/);
    expect(compositeProblem({ components: {}, reward: 0 }, defaultWeights)).toBe('it has no component "tests"');
  });
});
