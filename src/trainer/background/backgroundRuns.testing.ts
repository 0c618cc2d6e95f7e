import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import { latestCheckpoint } from '../run/checkpoints.js';
import type { ResumeChanges } from '../run/resumeChanges.js';
import { openRun, type RunReader } from '../run/runReader.js';
import type { RunEvent } from '../run/runRecord.js';
import type { Settings } from '../run/settings.js';
import type { TinyWorld } from '../tinyRun.testing.js';
import { startTraining, type TrainingHandle } from './client.js';
import { readProcessRecord } from './processRecord.js';

/** A training that was started, its record, and how long that was before. */
export interface Started {
  readonly handle: TrainingHandle;
  readonly run: RunReader;
  readonly from: number;
}

/** The trainings of a test file, in processes of their own. */
export class BackgroundRuns {
  private handles: TrainingHandle[] = [];

  constructor(private readonly world: TinyWorld) {}

  async start(
    more: {
      settings?: Settings;
      resume?: string;
      changes?: ResumeChanges;
      owner?: 'attached' | 'detached';
      backgroundPath?: string;
    } = {},
  ): Promise<Started> {
    const { repoRoot, settings, stateFolder } = this.world;
    const from = more.resume ? (await openRun(stateFolder, more.resume).events()).length : 0;
    const backgroundPath = path.resolve('dist/background.cjs');
    const handle = await startTraining({ repoRoot, settings, owner: 'attached', backgroundPath, ...more });
    this.handles.push(handle);
    return { handle, run: openRun(stateFolder, handle.runId), from };
  }

  /** Takes over a handle that `start` did not give. */
  add(handle: TrainingHandle): void {
    this.handles.push(handle);
  }

  /** Whoever follows the training cleans up after it. False where the run was faster and had completed. */
  async kill(handle: TrainingHandle): Promise<boolean> {
    const record = await readProcessRecord(handle.runFolder);
    // Without a record it has come to its end, and its pid may be another's by now.
    if (record !== null) process.kill(handle.pid, 'SIGKILL');
    const { status, message } = await handle.exited;
    expect(['interrupted', 'completed'], message).toContain(status);
    expect(record !== null && existsSync(record.socket)).toBe(false);
    expect(existsSync(path.join(this.world.stateFolder, 'train.lock'))).toBe(false);
    this.handles.splice(this.handles.indexOf(handle), 1)[0].dispose();
    return status === 'interrupted';
  }

  /** Those that have ended and are taken care of. */
  forget(): void {
    this.handles = [];
  }

  async stopAll(): Promise<void> {
    for (const handle of this.handles.splice(0)) {
      handle.stop();
      await handle.exited;
      handle.dispose();
    }
  }
}

/** Waits until the run has written an event that fits since its start; false where it ended without one. */
export function happened({ handle, run, from }: Started, fits: (event: RunEvent) => boolean): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const look = () => {
      run.events().then((events) => events.slice(from).some(fits) && resolve(true), reject);
    };
    const listening = handle.onChanged(look);
    void handle.exited.then(() => resolve(false)).finally(() => listening.dispose());
    look();
  });
}

export const digest = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex');

export async function finalWeights(run: RunReader, { steps }: Settings): Promise<Record<string, string>> {
  const checkpoint = await latestCheckpoint(run.paths.checkpoints);
  expect(checkpoint?.state.step).toBe(steps);
  const at = (name: string) => digest(path.join(checkpoint!.folder, name));
  return { model: at('model.safetensors'), optimizer: at('optimizer.safetensors') };
}

/** What a run found out, times of the clock aside. */
export async function findings(run: RunReader) {
  const isTime = (name: string) => name.startsWith('timing/') || name === 'step_time';
  return {
    steps: (await run.steps()).map(({ metrics, groups }) => ({
      groups,
      metrics: Object.fromEntries(Object.entries(metrics).filter(([name]) => !isTime(name))),
    })),
    evaluations: (await run.evaluations()).map(({ at: _, metrics, ...evaluation }) => ({
      ...evaluation,
      metrics: { ...metrics, 'cost/seconds': null },
    })),
  };
}
