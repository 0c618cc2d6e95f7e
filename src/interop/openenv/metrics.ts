import { ProtocolError } from './messages.js';
import type { SessionPool } from './sessionPool.js';

/** Counters of a server since it began. */
export class ServerCounters {
  resets = 0;
  steps = 0;
  episodes = 0;
  errors = 0;
  /** Seconds from a message to its answer, summed. */
  seconds = 0;
  rewards = 0;

  /** `report` is told of errors that are not the client's. */
  constructor(private readonly report: (error: unknown) => void) {}

  failed(error: unknown): void {
    this.errors += 1;
    if (!(error instanceof ProtocolError)) this.report(error);
  }
}

/** The metrics in Prometheus' text format. */
export function metricsText(counters: ServerCounters, pool: SessionPool): string {
  const metrics: readonly (readonly [string, 'gauge' | 'counter', string, number])[] = [
    ['sessions_active', 'gauge', 'Sessions that are open.', pool.active],
    ['sessions_capacity', 'gauge', 'Sessions that may be open at the same time.', pool.options.capacity],
    ['sessions_opened_total', 'counter', 'Sessions since the start.', pool.opened],
    ['sessions_refused_total', 'counter', 'Sessions refused for want of room.', pool.refused],
    ['resets_total', 'counter', 'Episodes started.', counters.resets],
    ['steps_total', 'counter', 'Turns played.', counters.steps],
    ['episodes_total', 'counter', 'Episodes graded.', counters.episodes],
    ['reward_sum', 'counter', 'Sum of the rewards of graded episodes.', counters.rewards],
    ['errors_total', 'counter', 'Messages answered with an error.', counters.errors],
    ['seconds_total', 'counter', 'Seconds from messages to their answers.', counters.seconds],
    ['resident_memory_bytes', 'gauge', 'Memory of the process.', process.memoryUsage.rss()],
  ];
  return metrics
    .map(
      ([name, type, help, value]) =>
        `# HELP whetstone_${name} ${help}\n# TYPE whetstone_${name} ${type}\nwhetstone_${name} ${value}\n`,
    )
    .join('');
}
