/** The wishes of a run's owner: pause, go on, stop. */
export class RunControl {
  private readonly stopping = new AbortController();
  private paused = false;
  private waiting: (() => void)[] = [];

  /** Called when the run was paused or goes on. */
  onPauseChanged: (paused: boolean) => void = () => undefined;

  /** Aborts when the run is to stop. */
  get signal(): AbortSignal {
    return this.stopping.signal;
  }

  pause(): void {
    if (this.paused || this.signal.aborted) return;
    this.paused = true;
    this.onPauseChanged(true);
  }

  resume(): void {
    if (!this.paused) return;
    this.paused = false;
    this.letGo();
    this.onPauseChanged(false);
  }

  /** A paused run stops too. */
  stop(): void {
    this.stopping.abort();
    this.letGo();
  }

  /** Waits while the run is paused; no longer where it is to stop, or `signal` aborts. */
  async gate(signal?: AbortSignal): Promise<void> {
    if (!this.paused || this.signal.aborted || signal?.aborted) return;
    await new Promise<void>((resolve) => {
      const go = () => {
        signal?.removeEventListener('abort', go);
        resolve();
      };
      this.waiting.push(go);
      signal?.addEventListener('abort', go);
    });
  }

  private letGo(): void {
    const waiting = this.waiting;
    this.waiting = [];
    for (const go of waiting) go();
  }
}
