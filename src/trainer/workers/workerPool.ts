import { cancelled, infrastructure } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';

export interface PoolLimits {
  /** A worker that failed is left alone for so long at first; twice as long each further time. */
  readonly firstBackOffMs: number;
  readonly longestBackOffMs: number;
  /** So long all workers may be lost before an episode that waits for one is given up. */
  readonly patienceMs: number;
}

export interface PooledWorker {
  readonly url: string;
  /** Sessions that it plays at the same time. */
  readonly sessions: number;
}

/** When a worker that had no session left is asked again. */
const fullRestMs = 200;

interface Standing<W> {
  readonly worker: W;
  busy: number;
  /** Failures since the last success. */
  failures: number;
  /** Before this moment of `performance.now()` it is left alone. */
  restsUntil: number;
  problem: string;
}

/** The right to one session with a worker. */
export interface Lease<W> {
  readonly worker: W;
  /** It played as it should. */
  succeeded(): void;
  /** It was lost, or its machine failed: it is left alone for a while. */
  failed(problem: string): void;
  /** Others have taken its room: it is asked again soon, and nothing is wrong with it. */
  full(): void;
  /** Gives the session back. Safe to call twice. */
  release(): void;
}

/** Which worker plays the next episode: the least busy of those that are well. Never more sessions than a worker has. */
export class WorkerPool<W extends PooledWorker> {
  private readonly standings: Standing<W>[];
  private readonly waiting = new Set<() => void>();
  /** Since when none of them is well. */
  private allLostSince: number | null = null;

  /** @param report told in one line when a worker is lost and when it is back */
  constructor(
    workers: readonly W[],
    private readonly limits: PoolLimits,
    private readonly report: (line: string) => void,
  ) {
    this.standings = workers.map((worker) => ({ worker, busy: 0, failures: 0, restsUntil: 0, problem: '' }));
  }

  /** Waits for a session. Throws `cancelled` where `signal` aborts, `infrastructure` where all workers stay lost. */
  async acquire(signal: AbortSignal): Promise<Lease<W>> {
    for (;;) {
      if (signal.aborted) throw cancelled();
      const now = performance.now();
      const chosen = this.choose(now);
      if (chosen !== null) return this.lease(chosen);
      const end = this.allLostSince === null ? Infinity : this.allLostSince + this.limits.patienceMs;
      if (now >= end) throw this.noneLeft();
      await this.change(signal, Math.min(end, this.nextRest(now)) - now);
    }
  }

  private choose(now: number): Standing<W> | null {
    // One that failed may cost a time-out: others go first.
    const rank = ({ busy, failures, worker }: Standing<W>) => (failures > 0 ? 1 : busy / worker.sessions);
    const ready = this.standings.filter(
      ({ busy, failures, restsUntil, worker }) =>
        // It is tried with a single session.
        busy < (failures > 0 ? 1 : worker.sessions) && restsUntil <= now,
    );
    return ready.reduce<Standing<W> | null>(
      (best, one) => (best === null || rank(one) < rank(best) ? one : best),
      null,
    );
  }

  private lease(standing: Standing<W>): Lease<W> {
    standing.busy += 1;
    let isHeld = true;
    return {
      worker: standing.worker,
      succeeded: () => {
        if (standing.failures > 0) this.report(`The worker ${standing.worker.url} is back.`);
        standing.failures = 0;
        this.allLostSince = null;
        this.wake();
      },
      failed: (problem) => {
        if (standing.failures === 0) this.report(problem);
        // Sessions that were lost together are one failure.
        if (standing.restsUntil <= performance.now()) {
          const { firstBackOffMs, longestBackOffMs } = this.limits;
          const rest = Math.min(longestBackOffMs, firstBackOffMs * 2 ** standing.failures);
          standing.failures += 1;
          standing.restsUntil = performance.now() + rest;
        }
        standing.problem = problem;
        if (this.standings.every(({ failures }) => failures > 0)) this.allLostSince ??= performance.now();
      },
      full: () => (standing.restsUntil = performance.now() + fullRestMs),
      release: () => {
        if (!isHeld) return;
        isHeld = false;
        standing.busy -= 1;
        this.wake();
      },
    };
  }

  /** When a worker has rested, without anybody's doing. */
  private nextRest(now: number): number {
    return Math.min(Infinity, ...this.standings.flatMap(({ restsUntil }) => (restsUntil > now ? [restsUntil] : [])));
  }

  private wake(): void {
    for (const proceed of [...this.waiting]) proceed();
  }

  /** Resolves at the next change, or after so long. */
  private change(signal: AbortSignal, ms: number): Promise<void> {
    return new Promise((resolve) => {
      const proceed = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', proceed);
        this.waiting.delete(proceed);
        resolve();
      };
      const timer = Number.isFinite(ms) ? setTimeout(proceed, Math.max(1, Math.ceil(ms))) : undefined;
      signal.addEventListener('abort', proceed, { once: true });
      this.waiting.add(proceed);
    });
  }

  private noneLeft() {
    const problems = [...new Set(this.standings.map(({ problem }) => problem))].join(' ');
    return infrastructure(say`None of the workers can play. ${problems}`, 'Mend them, then resume the run.');
  }
}
