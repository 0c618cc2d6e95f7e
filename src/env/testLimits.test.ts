import { describe, expect, it } from 'vitest';
import { TestLimits } from './testLimits.js';

const mostMs = 60_000;
const ended = (durationMs: number) => ({ outcome: 'completed' as const, durationMs });

describe('the time that test files may take', () => {
  it('is the most until a run came to its end, then ten times as long as that run', () => {
    const limits = new TestLimits(3_000);
    const [task, files] = [{ repo: 'a' }, ['a.test.js', 'b.test.js']];
    expect(limits.of(task, files, mostMs)).toBe(60_000);
    limits.learn(task, files, { outcome: 'timed-out', durationMs: 60_000 });
    limits.learn(task, files, ended(0));
    expect(limits.of(task, files, mostMs)).toBe(60_000);
    limits.learn(task, files, ended(2500));
    expect(limits.of(task, files, mostMs)).toBe(25_000);
    limits.learn(task, files, ended(100));
    expect(limits.of(task, files, mostMs)).toBe(25_000);
  });

  it('is never below the least nor above the most, and is known of the same files of the same repository alone', () => {
    const limits = new TestLimits(3_000);
    limits.learn({ repo: 'a' }, ['fast.test.js'], ended(200));
    limits.learn({ repo: 'a' }, ['slow.test.js'], ended(30_000));
    expect(limits.of({ repo: 'a' }, ['fast.test.js'], mostMs)).toBe(3_000);
    expect(limits.of({ repo: 'a' }, ['slow.test.js'], mostMs)).toBe(60_000);
    expect(limits.of({ repo: 'b' }, ['fast.test.js'], mostMs)).toBe(60_000);
    expect(limits.of({ repo: 'a' }, ['fast.test.js', 'slow.test.js'], mostMs)).toBe(60_000);
  });
});
