import { cancelled } from '../../trajectory/errors.js';

export interface AheadOptions<Weights, Played> {
  /** The steps that are left of a stage. The weights before the first of them are the oldest there are. */
  readonly firstStep: number;
  readonly lastStep: number;
  /** Updates behind the weights that are to play a step; never less than for the step before. */
  readonly policyStepOf: (step: number) => number;
  /** Plays a step with weights behind which there are `policyStep` updates. */
  readonly play: (step: number, policyStep: number, weights: Weights, signal: AbortSignal) => Promise<Played>;
  /** Ends everything. */
  readonly signal: AbortSignal;
}

/**
 * Plays the steps of a stage one after the other, each as soon as the weights are there that are to play it, while the learner learns
 * from the steps before. That bounds the queue too: the weights of a step far ahead are not there yet. The player's error meets the
 * learner when it wants a step that was not played.
 */
export class RolloutsAhead<Weights, Played> {
  /** By the updates behind them; those that no step wants any more are let go. */
  private readonly kept = new Map<number, Weights>();
  /** What the learner has not taken yet, by step. */
  private readonly played = new Map<number, Played>();
  private playedThrough: number;
  private failure: { readonly error: unknown } | null = null;
  private waiting: (() => void)[] = [];
  private readonly closing = new AbortController();
  private readonly signal: AbortSignal;
  private readonly player: Promise<void>;

  constructor(private readonly options: AheadOptions<Weights, Played>) {
    this.signal = AbortSignal.any([options.signal, this.closing.signal]);
    this.playedThrough = options.firstStep - 1;
    this.signal.addEventListener('abort', this.wake, { once: true });
    this.player = this.playAll().catch((error: unknown) => {
      this.failure = { error };
      this.wake();
    });
  }

  /**
   * The weights after `step` steps are there.
   * @param keep keeps them as they are; not called where no step is to be played with them
   */
  publish(step: number, keep: () => Weights): void {
    if (step > this.policyStepOf(this.options.lastStep)) return;
    this.kept.set(step, keep());
    this.wake();
  }

  /** What was played for a step; waits for it. Each step can be taken once. Throws `cancelled`, and what the player threw. */
  async take(step: number): Promise<Played> {
    await this.until(() => this.played.has(step));
    const played = this.played.get(step)!;
    this.played.delete(step);
    return played;
  }

  /**
   * Whether all is played that older weights than those after `step` steps are to play: then a run that goes on from there, with these
   * weights alone, goes on the same way.
   */
  isSettled(step: number): boolean {
    return this.playedThrough >= this.lastOfOlderWeights(step);
  }

  /** Waits for that. */
  settled(step: number): Promise<void> {
    return this.until(() => this.isSettled(step));
  }

  /** Cancels what is being played, and resolves when it has let go. */
  async close(): Promise<void> {
    this.closing.abort();
    await this.player;
    this.signal.removeEventListener('abort', this.wake);
    this.kept.clear();
    this.played.clear();
  }

  private async playAll(): Promise<void> {
    for (let step = this.options.firstStep; step <= this.options.lastStep; step++) {
      const policyStep = this.policyStepOf(step);
      await this.until(() => this.kept.has(policyStep));
      const weights = this.kept.get(policyStep)!;
      const next = step < this.options.lastStep ? this.policyStepOf(step + 1) : Infinity;
      for (const older of [...this.kept.keys()]) if (older < next) this.kept.delete(older);
      this.played.set(step, await this.options.play(step, policyStep, weights, this.signal));
      this.playedThrough = step;
      this.wake();
    }
  }

  /** A run that was resumed lacks older weights; what these were to play is recorded. */
  private policyStepOf(step: number): number {
    return Math.max(this.options.firstStep - 1, this.options.policyStepOf(step));
  }

  private lastOfOlderWeights(step: number): number {
    let last = step;
    while (last < this.options.lastStep && this.options.policyStepOf(last + 1) < step) last++;
    return last;
  }

  private async until(isSo: () => boolean): Promise<void> {
    for (;;) {
      if (this.signal.aborted) throw cancelled();
      if (isSo()) return;
      if (this.failure !== null) throw this.failure.error;
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    }
  }

  private readonly wake = (): void => {
    for (const go of this.waiting.splice(0)) go();
  };
}
