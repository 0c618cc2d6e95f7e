import { randomBytes } from 'node:crypto';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Task } from '../../trajectory/task.js';
import type { RunConfig } from './runRecord.js';
import { createStateFolder, storageError, writeFileAtomically } from './storage.js';

/** Paths of the files of a run directory. */
export interface RunPaths {
  readonly folder: string;
  readonly config: string;
  readonly tasks: string;
  readonly events: string;
  readonly trajectories: string;
  readonly tokens: string;
  readonly learned: string;
  readonly learnedTokens: string;
  readonly checkpoints: string;
  readonly process: string;
  readonly log: string;
}

export function runPaths(folder: string): RunPaths {
  const at = (name: string) => path.join(folder, name);
  return {
    folder,
    config: at('config.json'),
    tasks: at('tasks.json'),
    events: at('events.jsonl'),
    trajectories: at('trajectories.jsonl'),
    tokens: at('tokens.bin'),
    learned: at('learned.jsonl'),
    learnedTokens: at('learned.bin'),
    checkpoints: at('checkpoints'),
    process: at('process.json'),
    log: at('log.txt'),
  };
}

export const runsFolder = (stateFolder: string) => path.join(stateFolder, 'runs');

/** A fresh id that sorts by time, e.g. `20261129-165638-a1b2`. */
export function newRunId(now = new Date()): string {
  const [date, time] = now.toISOString().replace(/[-:]/g, '').slice(0, 15).split('T');
  return `${date}-${time}-${randomBytes(2).toString('hex')}`;
}

/** Creates the run's directory with its config, whole or not at all. */
export async function createRun(stateFolder: string, config: RunConfig): Promise<RunPaths> {
  const runs = runsFolder(stateFolder);
  const folder = path.join(runs, config.runId);
  const draft = path.join(runs, `.${config.runId}`);
  await createStateFolder(stateFolder);
  try {
    await mkdir(draft, { recursive: true });
    await writeFile(runPaths(draft).config, json(config));
    await rename(draft, folder);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw storageError(error, folder);
  }
  return runPaths(folder);
}

/** Settles which tasks the run trains on and is measured by. The tasks are copied: a later `tasks build` changes nothing. */
export async function settleTasks(paths: RunPaths, config: RunConfig, tasks: readonly Task[]): Promise<RunConfig> {
  const ids = (split: Task['whetstone']['split']) =>
    tasks.filter((task) => task.whetstone.split === split).map((task) => task.instance_id);
  const settled: RunConfig = { ...config, taskIds: { train: ids('train'), heldout: ids('heldout') } };
  await writeFileAtomically(paths.tasks, json(tasks));
  await writeFileAtomically(paths.config, json(settled));
  return settled;
}

const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;
