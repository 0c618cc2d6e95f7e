import { describe, expect, it } from 'vitest';
import { learnTestLimit, testLimit } from './testLimit.js';

const limits = { testTimeoutMs: 60_000 };
const ended = (durationMs: number) => ({ outcome: 'completed' as const, durationMs });

describe('the time that test files of a task may take', () => {
  it('is that of the limits until a run came to its end, then ten times as long as that run', () => {
    const task = { repo: 'ten-times' };
    const files = ['a.test.js', 'b.test.js'];
    expect(testLimit(task, files, limits)).toBe(60_000);
    learnTestLimit(task, files, { outcome: 'timed-out', durationMs: 60_000 });
    learnTestLimit(task, files, ended(0));
    expect(testLimit(task, files, limits)).toBe(60_000);
    learnTestLimit(task, files, ended(2500));
    expect(testLimit(task, files, limits)).toBe(25_000);
    learnTestLimit(task, files, ended(100));
    expect(testLimit(task, files, limits)).toBe(25_000);
  });

  it('is three seconds at least, never more than the limits say, and the same for the tasks of a repository', () => {
    learnTestLimit({ repo: 'one' }, ['fast.test.js'], ended(200));
    learnTestLimit({ repo: 'one' }, ['slow.test.js'], ended(30_000));
    expect(testLimit({ repo: 'one' }, ['fast.test.js'], limits)).toBe(3_000);
    expect(testLimit({ repo: 'one' }, ['slow.test.js'], limits)).toBe(60_000);
    expect(testLimit({ repo: 'another' }, ['fast.test.js'], limits)).toBe(60_000);
    expect(testLimit({ repo: 'one' }, ['fast.test.js', 'slow.test.js'], limits)).toBe(60_000);
  });
});
