import type { TestReport } from '../testing/testRunner.js';
import type { Task } from '../../trajectory/task.js';
import type { EpisodeLimits } from '../episodeTypes.js';

/** What runs longer than this many times a run that came to its end is in a loop that a change made. */
const patience = 10;
const leastMs = 10_000;

const limits = new WeakMap<Task, number>();

/**
 * Milliseconds that a run of the files of a task's failing tests may take: those of the episode's limits, until one came to its end in this
 * process. The limit stays what that one made it, since what is remembered of a run depends on its limit.
 */
export const testLimit = (task: Task, { testTimeoutMs }: Pick<EpisodeLimits, 'testTimeoutMs'>): number =>
  Math.min(testTimeoutMs, limits.get(task) ?? Infinity);

/** Learns from a run of these files how long they take. One that was remembered took no time. */
export function learnTestLimit(task: Task, { outcome, durationMs }: Pick<TestReport, 'outcome' | 'durationMs'>): void {
  if (outcome !== 'completed' || durationMs === 0 || limits.has(task)) return;
  limits.set(task, Math.max(leastMs, Math.ceil(patience * durationMs)));
}
