import { cancelled } from '../../trajectory/errors.js';
import type { Attempt, AttemptResult } from './attempt.js';

export interface SearchProgress {
  /** What was tried last, for people. */
  readonly message: string;
  readonly tried: number;
  readonly kept: number;
}

export interface SearchLimits {
  /** Stop when this many tasks are kept. */
  readonly limit: number;
  /** Attempts that run at the same time. */
  readonly concurrency: number;
  /** performance.now() after which no further attempt is started. */
  readonly deadline: number;
  readonly signal?: AbortSignal;
}

/** Attempts asked for at once, for each that can run: enough that a slow one keeps the others waiting little. */
const BATCH_PER_WORKER = 3;
const MAX_BATCH = 100;

/**
 * Tries attempts in their order, a few at a time, until enough are kept. A batch of them is tried to its end before
 * the next ones are asked for, so that what an attempt learns from those before it does not hang on timing.
 */
export async function searchTasks(
  attempts: AsyncGenerator<Attempt>,
  limits: SearchLimits,
  onProgress: (progress: SearchProgress) => void,
): Promise<AttemptResult[]> {
  const results: AttemptResult[] = [];
  const kept = () => results.filter((result) => 'draft' in result).length;
  try {
    for (;;) {
      if (limits.signal?.aborted) throw cancelled();
      const room = limits.limit - kept();
      if (room <= 0 || performance.now() > limits.deadline) break;
      const batch = await take(attempts, Math.min(BATCH_PER_WORKER * limits.concurrency, room));
      if (batch.length === 0) break;
      results.push(...(await settle(batch, limits)));
      onProgress({ message: batch[batch.length - 1].title, tried: results.length, kept: kept() });
    }
  } finally {
    await attempts.return(undefined);
  }
  return results;
}

/** Waits for all that run, so that nothing runs on behind a failure's back, then throws the first failure. */
async function settle(batch: readonly Attempt[], { concurrency, signal }: SearchLimits): Promise<AttemptResult[]> {
  const results: AttemptResult[] = [];
  let next = 0;
  let hasFailed = false;
  const work = async () => {
    for (let at = next++; at < batch.length && !hasFailed; at = next++) {
      if (signal?.aborted) throw cancelled();
      results[at] = await batch[at].run().catch((error: unknown) => {
        hasFailed = true;
        throw error;
      });
    }
  };
  const settled = await Promise.allSettled(Array.from({ length: concurrency }, work));
  for (const one of settled) if (one.status === 'rejected') throw one.reason;
  return results;
}

/** The next attempts, `count` of which take time; those that do not come along. */
async function take(attempts: AsyncGenerator<Attempt>, count: number): Promise<Attempt[]> {
  const batch: Attempt[] = [];
  for (let undecided = 0; undecided < count && batch.length < MAX_BATCH;) {
    const next = await attempts.next();
    if (next.done === true) break;
    batch.push(next.value);
    if (next.value.isDecided !== true) undecided += 1;
  }
  return batch;
}
