import type { TestReport } from '../testing/testRunner.js';
import type { Task } from '../../trajectory/task.js';
import type { EpisodeLimits } from '../episodeTypes.js';

/** What runs longer than this many times a run that came to its end is in a loop that a change made. */
const patience = 10;
const leastMs = 3_000;

const limits = new Map<string, number>();

/** Tasks of a repository share their test files, and what is known of the time that these take. */
const keyOf = ({ repo }: Pick<Task, 'repo'>, files: readonly string[]) => JSON.stringify([repo, ...files]);

/**
 * Milliseconds that a run of these test files of a task may take: those of the episode's limits, until one came to its end in this
 * process. The limit stays what that one made it, since what is remembered of a run depends on its limit.
 */
export const testLimit = (
  task: Pick<Task, 'repo'>,
  files: readonly string[],
  { testTimeoutMs }: Pick<EpisodeLimits, 'testTimeoutMs'>,
): number => Math.min(testTimeoutMs, limits.get(keyOf(task, files)) ?? Infinity);

/** Learns from a run of these files how long they take. One that was remembered took no time. */
export function learnTestLimit(
  task: Pick<Task, 'repo'>,
  files: readonly string[],
  { outcome, durationMs }: Pick<TestReport, 'outcome' | 'durationMs'>,
): void {
  const key = keyOf(task, files);
  if (outcome !== 'completed' || durationMs === 0 || limits.has(key)) return;
  limits.set(key, Math.max(leastMs, Math.ceil(patience * durationMs)));
}
