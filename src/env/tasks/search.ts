import type { Funnel } from '../../trajectory/task.js';
import { cancelled } from '../../trajectory/errors.js';
import type { Attempt, AttemptResult, TaskDraft } from './attempt.js';

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
  /** Date.now() after which no further attempt is started. */
  readonly deadline: number;
  readonly signal?: AbortSignal;
}

/**
 * Tries attempts in their order, a few at a time, until enough are kept. The few are tried to their end before the next
 * ones are asked for, so that what an attempt learns from those before it does not hang on timing.
 */
export async function searchTasks(
  attempts: AsyncGenerator<Attempt>,
  limits: SearchLimits,
  onProgress: (progress: SearchProgress) => void,
): Promise<{ readonly drafts: readonly TaskDraft[]; readonly results: readonly AttemptResult[] }> {
  const results: AttemptResult[] = [];
  const drafts = () => results.flatMap((result) => ('draft' in result ? [result.draft] : []));
  try {
    for (;;) {
      if (limits.signal?.aborted) throw cancelled();
      const room = limits.limit - drafts().length;
      if (room <= 0 || Date.now() > limits.deadline) break;
      const batch = await take(attempts, Math.min(limits.concurrency, room));
      if (batch.length === 0) break;
      results.push(...(await settle(batch)));
      onProgress({ message: batch[batch.length - 1].title, tried: results.length, kept: drafts().length });
    }
  } finally {
    await attempts.return(undefined);
  }
  return { drafts: drafts(), results };
}

/** Waits for all, so that nothing runs on behind a failure's back, then throws the first failure. */
async function settle(batch: readonly Attempt[]): Promise<AttemptResult[]> {
  const settled = await Promise.allSettled(batch.map((attempt) => attempt.run()));
  return settled.map((one) => {
    if (one.status === 'rejected') throw one.reason;
    return one.value;
  });
}

async function take(attempts: AsyncGenerator<Attempt>, count: number): Promise<Attempt[]> {
  const batch: Attempt[] = [];
  while (batch.length < count) {
    const next = await attempts.next();
    if (next.done === true) break;
    batch.push(next.value);
  }
  return batch;
}

/** Counts what became of all attempts. */
export function countFunnel(results: readonly AttemptResult[]): Funnel {
  const skipped: Record<string, number> = {};
  const invalid: Record<string, number> = {};
  let flaky = 0;
  let kept = 0;
  for (const result of results) {
    if ('skipped' in result) skipped[result.skipped] = (skipped[result.skipped] ?? 0) + 1;
    else if ('invalid' in result) invalid[result.invalid] = (invalid[result.invalid] ?? 0) + 1;
    else if ('flaky' in result) flaky += 1;
    else kept += 1;
  }
  return { found: results.length, skipped, invalid, flaky, kept };
}

/** The funnel as lines for a terminal. */
export function funnelLines(funnel: Funnel): string[] {
  const reasons = (counts: Readonly<Record<string, number>>) =>
    Object.entries(counts)
      .sort(([, a], [, b]) => b - a)
      .map(([reason, count]) => `    ${count} ${reason}`);
  const sum = (counts: Readonly<Record<string, number>>) =>
    Object.values(counts).reduce((total, count) => total + count, 0);
  return [
    `${funnel.found} candidates looked at`,
    `  ${sum(funnel.skipped)} skipped`,
    ...reasons(funnel.skipped),
    `  ${sum(funnel.invalid)} not valid`,
    ...reasons(funnel.invalid),
    `  ${funnel.flaky} flaky`,
    `  ${funnel.kept} kept`,
  ];
}
