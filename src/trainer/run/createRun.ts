import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ensureStateFolder } from '../../env/repo/stateFolder.js';
import type { Task } from '../../trajectory/task.js';
import { runPaths, runsFolder, type RunPaths } from './runDirectory.js';
import type { RunConfig } from './runRecord.js';
import { storageError, writeFileAtomically } from './storage.js';

/** Creates the run's directory with its config, whole or not at all. */
export async function createRun(stateFolder: string, config: RunConfig): Promise<RunPaths> {
  const runs = runsFolder(stateFolder);
  const folder = path.join(runs, config.runId);
  const draft = path.join(runs, `.${config.runId}`);
  await ensureStateFolder(path.dirname(stateFolder), stateFolder);
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
  // The tasks come last: where they are, the run is settled, whatever moment it was killed at.
  await writeConfig(paths, settled);
  await writeFileAtomically(paths.tasks, json(tasks));
  return settled;
}

export const writeConfig = (paths: RunPaths, config: RunConfig) => writeFileAtomically(paths.config, json(config));

const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;
