import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tasksOfStep } from './curriculum.js';

const ids = (n: number) => Array.from({ length: n }, (_, index) => `task-${index}`);

describe('the curriculum', () => {
  it('deals every task once in a pass and shuffles the next pass differently', () => {
    const pass = (first: number) => [0, 1, 2].flatMap((more) => tasksOfStep(ids(6), 2, first + more, 1));
    expect(new Set(pass(1))).toEqual(new Set(ids(6)));
    expect(new Set(pass(4))).toEqual(new Set(ids(6)));
    expect(pass(1)).not.toEqual(pass(4));
    expect(pass(1)).toEqual(pass(1));
  });

  it('never deals a task twice in a step, whatever the numbers', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 50 }),
        (n, perStep, step) => {
          const dealt = tasksOfStep(ids(n), perStep, step, 3);
          expect(dealt).toHaveLength(Math.min(n, perStep));
          expect(new Set(dealt).size).toBe(dealt.length);
        },
      ),
    );
  });
});
