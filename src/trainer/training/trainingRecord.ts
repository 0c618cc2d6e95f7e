import { cancelled, WhetstoneError } from '../../trajectory/errors.js';
import { say, type Said } from '../../trajectory/said.js';
import type { Schedule } from '../rollout/playGroups.js';
import type { RunControl } from '../run/runControl.js';
import type { Stage } from '../run/runRecord.js';
import type { RunWriter } from '../run/runWriter.js';
import type { Settings } from '../run/settings.js';

/** Tells the record how a training goes: its stages, their progress, pauses, and how it ended. */
export class TrainingRecord {
  constructor(
    private readonly writer: RunWriter,
    private readonly control: RunControl,
    private readonly settings: Pick<Settings, 'concurrency' | 'deterministic'>,
  ) {
    control.onPauseChanged = (paused) => this.pause(paused);
  }

  /** A stage begins. Throws `cancelled` where the run is to stop instead. */
  stage(stage: Stage): void {
    if (this.control.signal.aborted) throw cancelled();
    this.writer.event({ type: 'stage', stage });
  }

  progress(stage: Stage, said: Said, done: number, total: number): void {
    this.writer.event({ type: 'progress', stage, ...said, done, total });
  }

  /**
   * How episodes are played that are recorded one by one.
   * @param signal cancels them; absent: what stops the run
   */
  schedule(stage: Stage, said: Said, total: number, signal = this.control.signal): Schedule {
    let done = 0;
    return {
      concurrency: this.settings.deterministic ? 1 : this.settings.concurrency,
      signal,
      gate: () => this.control.gate(signal),
      onTrajectory: (trajectory) => {
        this.writer.trajectory(trajectory);
        this.progress(stage, said, ++done, total);
      },
    };
  }

  /** It ended early: stopped by its owner, or failed. */
  async end(error: unknown, step: number, save: () => Promise<void>): Promise<void> {
    try {
      if (this.control.signal.aborted) {
        // A stop comes between updates, so the weights are those of a whole step and worth keeping.
        if (isCancellation(error)) await save();
        this.writer.event({ type: 'finished', status: 'stopped', ...say`Stopped after step ${step}.` });
      } else {
        const known = error instanceof WhetstoneError ? error : null;
        const said = known?.said ?? { message: `internal: ${(error as Error).message}` };
        this.writer.event({ type: 'finished', status: 'failed', ...said, errorKind: known?.kind ?? 'failed' });
      }
    } catch {
      // The disk may be what failed; the first error is the one to tell.
    }
  }

  private pause(paused: boolean): void {
    try {
      this.writer.event({ type: paused ? 'paused' : 'resumed' });
    } catch {
      // A disk that fails will fail the next trajectory too, and there it ends the run.
    }
  }
}

const isCancellation = (error: unknown) => error instanceof WhetstoneError && error.kind === 'cancelled';
