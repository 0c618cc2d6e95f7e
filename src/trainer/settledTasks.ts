import { existsSync } from 'node:fs';
import { buildTasks, defaultBuildOptions } from '../env/tasks/buildTasks.js';
import { readExclusions, withoutExcluded } from '../env/tasks/excludedTasks.js';
import { readTasks } from '../env/tasks/taskStore.js';
import { badInput } from '../trajectory/errors.js';
import { say, type Said } from '../trajectory/said.js';
import type { Task } from '../trajectory/task.js';
import { settleTasks } from './run/createRun.js';
import type { RunReader } from './run/runReader.js';
import type { RunConfig } from './run/runRecord.js';

type BuildEnvironment = Parameters<typeof buildTasks>[0] & { readonly stateFolder: string };

/**
 * The tasks of a run: those that it has settled on already, else those of the repository, which are built where there are
 * none, without those that a person left out, and which the run settles on. Throws bad-input where none is left to train on.
 */
export async function settledTasks(
  environment: BuildEnvironment,
  config: RunConfig,
  reader: RunReader,
  signal: AbortSignal,
  onProgress: (said: Said, done: number, total: number) => void,
): Promise<{ tasks: readonly Task[]; config: RunConfig }> {
  if (existsSync(reader.paths.tasks)) return { tasks: await reader.tasks(), config };
  const excluded = await readExclusions(environment.stateFolder);
  const all = await storedOrBuiltTasks(environment, config.settings.seed, signal, onProgress);
  const tasks = withoutExcluded(all, excluded);
  const settled = await settleTasks(reader.paths, config, tasks);
  if (settled.taskIds.train.length === 0) {
    const remedy =
      tasks.length < all.length
        ? say`Take some in again with \`whetstone tasks include\`.`
        : say`See \`whetstone tasks build\` for what became of the candidates.`;
    throw badInput('No task is left to train on.', remedy);
  }
  return { tasks, config: settled };
}

async function storedOrBuiltTasks(
  environment: BuildEnvironment,
  seed: number,
  signal: AbortSignal,
  onProgress: (said: Said, done: number, total: number) => void,
): Promise<readonly Task[]> {
  const stored = await readTasks(environment.stateFolder).catch(() => null);
  if (stored !== null) return stored;
  const built = await buildTasks(
    environment,
    { ...defaultBuildOptions, seed },
    { signal, onProgress: ({ said, done, total }) => onProgress(said, done, total) },
  );
  return built.tasks;
}
