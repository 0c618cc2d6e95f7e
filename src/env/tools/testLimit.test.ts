import { describe, expect, it } from 'vitest';
import type { Task } from '../../trajectory/task.js';
import { learnTestLimit, testLimit } from './testLimit.js';

const limits = { testTimeoutMs: 60_000 };
const ended = (durationMs: number) => ({ outcome: 'completed' as const, durationMs });

describe('the time that the tests of a task may take', () => {
  it('is that of the limits until a run came to its end, then ten times as long as that run', () => {
    const task = {} as Task;
    expect(testLimit(task, limits)).toBe(60_000);
    learnTestLimit(task, { outcome: 'timed-out', durationMs: 60_000 });
    learnTestLimit(task, ended(0));
    expect(testLimit(task, limits)).toBe(60_000);
    learnTestLimit(task, ended(2500));
    expect(testLimit(task, limits)).toBe(25_000);
    learnTestLimit(task, ended(100));
    expect(testLimit(task, limits)).toBe(25_000);
  });

  it('is ten seconds at least, never more than the limits say, and each task has its own', () => {
    const [fast, slow] = [{} as Task, {} as Task];
    learnTestLimit(fast, ended(300));
    learnTestLimit(slow, ended(30_000));
    expect(testLimit(fast, limits)).toBe(10_000);
    expect(testLimit(slow, limits)).toBe(60_000);
  });
});
