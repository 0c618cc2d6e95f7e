import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { badInput } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';
import type { Task } from '../../trajectory/task.js';
import { explainFileError } from '../repo/git.js';
import { readTasks } from './taskStore.js';

const exclusionSchema = z.object({
  instance_id: z.string(),
  /** Why, in the words of who left it out; may be empty. */
  reason: z.string(),
  /** ISO 8601. */
  at: z.string(),
});
const excludedSchema = z.object({ version: z.literal(1), tasks: z.array(exclusionSchema) });

export type Exclusion = z.infer<typeof exclusionSchema>;
export type Exclusions = ReadonlyMap<string, Exclusion>;

/** Outlives a new build of the tasks: a task that is made again under the same id stays left out. */
export const excludedFile = (stateFolder: string) => path.join(stateFolder, 'tasks', 'excluded.json');

/** The tasks that a person left out, by id. Throws badInput where the file is damaged. */
export async function readExclusions(stateFolder: string): Promise<Exclusions> {
  const file = excludedFile(stateFolder);
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return new Map();
    throw explainFileError(error, 'read', file);
  }
  const parsed = excludedSchema.safeParse(parseJson(text));
  if (!parsed.success)
    throw badInput(say`${file} is damaged.`, 'Mend it, or delete it to have every task included.', parsed.error);
  return new Map(parsed.data.tasks.map((exclusion) => [exclusion.instance_id, exclusion]));
}

/** Leaves a task out of training and evaluation; a second time only changes the reason. */
export function excludeTask(stateFolder: string, taskId: string, reason: string): Promise<void> {
  return change(stateFolder, (tasks) =>
    tasks.set(taskId, { instance_id: taskId, reason, at: new Date().toISOString() }),
  );
}

/** Takes a task in again; nothing happens to one that is not left out. */
export function includeTask(stateFolder: string, taskId: string): Promise<void> {
  return change(stateFolder, (tasks) => tasks.delete(taskId));
}

/** The stored tasks without those that are left out. Throws like `readTasks`. */
export async function readIncludedTasks(stateFolder: string): Promise<Task[]> {
  const [tasks, excluded] = [await readTasks(stateFolder), await readExclusions(stateFolder)];
  return withoutExcluded(tasks, excluded);
}

export const withoutExcluded = (tasks: readonly Task[], excluded: Exclusions): Task[] =>
  tasks.filter(({ instance_id }) => !excluded.has(instance_id));

async function change(stateFolder: string, make: (tasks: Map<string, Exclusion>) => unknown): Promise<void> {
  const tasks = new Map(await readExclusions(stateFolder));
  make(tasks);
  const file = excludedFile(stateFolder);
  const draft = `${file}.${process.pid}.tmp`;
  try {
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(draft, `${JSON.stringify({ version: 1, tasks: [...tasks.values()] }, null, 2)}\n`, {
      flush: true,
    });
    await rename(draft, file);
  } catch (error) {
    throw explainFileError(error, 'write', file);
  } finally {
    await rm(draft, { force: true });
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
