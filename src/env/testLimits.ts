import type { TestReport } from './testing/testRunner.js';
import type { Task } from '../trajectory/task.js';

/** What runs longer than this many times a run that came to its end is in a loop that a change made. */
const patience = 10;

/**
 * How long runs of test files may take, as far as this process has seen how long they do take. Tasks of a repository share their test
 * files, and what is known of them.
 */
export class TestLimits {
  private readonly limits = new Map<string, number>();

  /** @param leastMs milliseconds that any run may take */
  constructor(private readonly leastMs: number) {}

  /**
   * Milliseconds: at most `mostMs`, and that until a run came to its end. The limit stays what that one made it, so that equal trees
   * are given equal time.
   */
  of(task: Pick<Task, 'repo'>, files: readonly string[], mostMs: number): number {
    return Math.min(mostMs, this.limits.get(keyOf(task, files)) ?? Infinity);
  }

  /** Learns from a run of these files how long they take. One that was remembered took no time. */
  learn(
    task: Pick<Task, 'repo'>,
    files: readonly string[],
    { outcome, durationMs }: Pick<TestReport, 'outcome' | 'durationMs'>,
  ): void {
    const key = keyOf(task, files);
    if (outcome !== 'completed' || durationMs === 0 || this.limits.has(key)) return;
    this.limits.set(key, Math.max(this.leastMs, Math.ceil(patience * durationMs)));
  }
}

const keyOf = ({ repo }: Pick<Task, 'repo'>, files: readonly string[]) => JSON.stringify([repo, ...files]);
