import { cancelled } from '../../trajectory/errors.js';
import type { TestReport } from '../testing/testRunner.js';

/** What runs are made for: for what tools show to a policy, or for a grade. No result goes from the one to the other. */
export type RunPurpose = 'shown' | 'graded';

/** What decides a run of tests, as digests. */
export interface RunKey {
  /** The start tree, the tests that run, their command, the sandbox; not the time limit, since what is kept was completed. */
  readonly suite: string;
  /** All in which the tree differs from its start tree. */
  readonly tree: string;
}

/** A run of tests as it came out in one tree. */
export interface MadeRun {
  readonly report: TestReport;
  /** That tree's path as the tests saw it. */
  readonly mountPath: string;
  /** False where it did something to its tree that others would miss: then each makes its own. */
  readonly canBeShared: boolean;
}

export interface MemoryBounds {
  readonly entries: number;
  /** Of the reports, as JSON. */
  readonly bytes: number;
}

/** How many runs were asked for, and how many of them were not made since their result was known or being found. */
export interface RunCounts {
  readonly asked: number;
  readonly remembered: number;
}

interface RunUnderWay {
  askers: number;
  readonly controller: AbortController;
  /** Null where it failed, or is not to be shared. Never rejects. */
  readonly end: Promise<MadeRun | null>;
}

const defaultBounds: MemoryBounds = { entries: 4096, bytes: 64 * 2 ** 20 };

/**
 * Results of test runs of one purpose, for as long as the process lives. Only runs that were completed are remembered, the
 * least recently used forgotten first. A run that is under way is awaited by all who ask for it, and ends when nobody does
 * any more.
 */
export class RunMemory<Purpose extends RunPurpose = RunPurpose> {
  /** Oldest use first. A suite of which each run is to be made has an entry of its own, which is null. */
  private readonly kept = new Map<string, { readonly made: MadeRun | null; readonly bytes: number }>();
  private readonly underWay = new Map<string, RunUnderWay>();
  private bytes = 0;
  private asked = 0;
  private remembered = 0;

  constructor(
    readonly purpose: Purpose,
    private readonly bounds: MemoryBounds = defaultBounds,
  ) {}

  get counts(): RunCounts {
    return { asked: this.asked, remembered: this.remembered };
  }

  /**
   * The result of a run, made by `make` where it is neither known nor being found. The signal that `make` is given aborts
   * when nobody waits for the result. Throws `cancelled` where `signal` aborts: at once for one who waits, for the one who
   * makes the run when it has ended, so that nothing runs in a tree that its owner takes for its own again.
   */
  async ask(
    key: RunKey,
    signal: AbortSignal,
    make: (signal: AbortSignal) => Promise<MadeRun>,
  ): Promise<{ readonly made: MadeRun; readonly isRemembered: boolean }> {
    const name = `${key.suite} ${key.tree}`;
    for (;;) {
      if (signal.aborted) throw cancelled();
      if (this.recall(key.suite) !== undefined)
        return { made: await this.alone(() => make(signal)), isRemembered: false };
      // No wait but that for a run: between looking and leading nobody else may begin.
      const run = this.underWay.get(name);
      const known = this.recall(name) ?? (run ? await this.awaited(name, run, signal) : undefined);
      if (known === undefined) {
        const made = await this.alone(() => this.lead(key, name, signal, make));
        if (signal.aborted) throw cancelled();
        return { made, isRemembered: false };
      }
      // Else the run that was waited for failed where it was made, or is not to be shared.
      if (known !== null) {
        this.asked += 1;
        this.remembered += 1;
        return { made: known, isRemembered: true };
      }
    }
  }

  /** Counts a run that is made whatever is known. */
  alone<T>(make: () => Promise<T>): Promise<T> {
    this.asked += 1;
    return make();
  }

  /** Undefined where there is none. */
  private recall(name: string): MadeRun | null | undefined {
    const entry = this.kept.get(name);
    if (entry === undefined) return undefined;
    this.kept.delete(name);
    this.kept.set(name, entry);
    return entry.made;
  }

  private lead(
    key: RunKey,
    name: string,
    signal: AbortSignal,
    make: (signal: AbortSignal) => Promise<MadeRun>,
  ): Promise<MadeRun> {
    const controller = new AbortController();
    const making = make(controller.signal).then((made) => {
      if (!made.canBeShared) this.keep(key.suite, null);
      else if (made.report.outcome === 'completed') this.keep(name, made);
      return made;
    });
    const end = making.then(
      (made) => (made.canBeShared ? made : null),
      () => null,
    );
    const run: RunUnderWay = { askers: 0, controller, end };
    this.underWay.set(name, run);
    const leave = this.enter(name, run, signal);
    return making.finally(() => {
      leave();
      this.forgetUnderWay(name, run);
    });
  }

  private awaited(name: string, run: RunUnderWay, signal: AbortSignal): Promise<MadeRun | null> {
    const leave = this.enter(name, run, signal);
    return new Promise((resolve, reject) => {
      const abort = () => reject(cancelled());
      signal.addEventListener('abort', abort, { once: true });
      void run.end.then((made) => {
        signal.removeEventListener('abort', abort);
        leave();
        resolve(made);
      });
    });
  }

  /** Counts as one who waits, until `signal` aborts or the function is called that it returns. */
  private enter(name: string, run: RunUnderWay, signal: AbortSignal): () => void {
    run.askers += 1;
    let hasLeft = false;
    const leave = () => {
      if (hasLeft) return;
      hasLeft = true;
      signal.removeEventListener('abort', leave);
      run.askers -= 1;
      if (run.askers > 0) return;
      this.forgetUnderWay(name, run);
      run.controller.abort();
    };
    signal.addEventListener('abort', leave, { once: true });
    return leave;
  }

  private forgetUnderWay(name: string, run: RunUnderWay): void {
    if (this.underWay.get(name) === run) this.underWay.delete(name);
  }

  private keep(name: string, made: MadeRun | null): void {
    const bytes = name.length + (made === null ? 0 : Buffer.byteLength(JSON.stringify(made.report)));
    this.forget(name);
    this.kept.set(name, { made, bytes });
    this.bytes += bytes;
    for (const oldest of this.kept.keys()) {
      if (this.kept.size <= this.bounds.entries && this.bytes <= this.bounds.bytes) break;
      this.forget(oldest);
    }
  }

  private forget(name: string): void {
    this.bytes -= this.kept.get(name)?.bytes ?? 0;
    this.kept.delete(name);
  }
}
