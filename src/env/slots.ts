import { cancelled } from '../trajectory/errors.js';

/**
 * So many pieces of work at a time, the rest in a queue, first come first served: episodes side by side are many more than
 * commands that a machine runs well at once.
 */
export class Slots {
  private free: number;
  private readonly waiting: (() => void)[] = [];

  constructor(count: number) {
    this.free = count;
  }

  /** Waits for a slot, then does the work in it. Throws `cancelled` where `signal` aborts before. */
  async run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.enter(signal);
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      if (next === undefined) this.free++;
      else next();
    }
  }

  private enter(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.reject(cancelled());
    if (this.free > 0) {
      this.free--;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const proceed = () => {
        signal.removeEventListener('abort', abort);
        resolve();
      };
      const abort = () => {
        this.waiting.splice(this.waiting.indexOf(proceed), 1);
        reject(cancelled());
      };
      this.waiting.push(proceed);
      signal.addEventListener('abort', abort, { once: true });
    });
  }
}
