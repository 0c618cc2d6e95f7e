import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { badInput } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';
import type { Funnel, Task } from '../../trajectory/task.js';
import { explainFileError } from '../repo/git.js';
import { taskSchema } from './taskSchema.js';

const countsSchema = z.record(z.string(), z.number().int());
const funnelCounts = {
  found: z.number().int(),
  skipped: countsSchema,
  invalid: countsSchema,
  flaky: z.number().int(),
  kept: z.number().int(),
};
const summarySchema = z.object({
  key: z.string(),
  funnel: z.object({
    ...funnelCounts,
    sources: z
      .object({ history: z.object(funnelCounts).optional(), injection: z.object(funnelCounts).optional() })
      .default({}),
  }),
  quarantined: z.array(z.string()),
  notes: z.array(z.string()),
  /** Number of tasks, so that a file cut at the end of a line is noticed. */
  tasks: z.number().int(),
});

/** The outcome of a build. */
export interface BuiltTasks {
  readonly tasks: readonly Task[];
  readonly funnel: Funnel;
  /** Tests that do not give the same result each time; no task is graded by them. */
  readonly quarantined: readonly string[];
  /** What a person should know about how the tasks were made. */
  readonly notes: readonly string[];
}

const REMEDY = 'Build the tasks with `whetstone tasks build`.';
const folderOf = (stateFolder: string) => join(stateFolder, 'tasks');
const tasksFile = (stateFolder: string) => join(folderOf(stateFolder), 'tasks.jsonl');
const summaryFile = (stateFolder: string) => join(folderOf(stateFolder), 'funnel.json');

/** Stores a build. Each file appears whole or not at all; the summary comes last and vouches for the tasks. */
export async function writeTasks(stateFolder: string, key: string, built: BuiltTasks): Promise<void> {
  const { tasks, ...summary } = built;
  try {
    await mkdir(folderOf(stateFolder), { recursive: true });
    await rm(summaryFile(stateFolder), { force: true });
    await writeWhole(tasksFile(stateFolder), tasks.map((task) => `${JSON.stringify(task)}\n`).join(''));
    const text = JSON.stringify({ key, ...summary, tasks: tasks.length }, null, 2);
    await writeWhole(summaryFile(stateFolder), `${text}\n`);
  } catch (error) {
    throw explainFileError(error, 'write', folderOf(stateFolder));
  }
}

/** The stored tasks. Throws `badInput` where there are none or where the files are not whole. */
export async function readTasks(stateFolder: string): Promise<Task[]> {
  return [...(await readBuilt(stateFolder)).tasks];
}

/** The stored build with its funnel; `key` is the one it was stored under. Throws like `readTasks`. */
export async function readBuilt(stateFolder: string): Promise<BuiltTasks & { readonly key: string }> {
  const text = await readStored(tasksFile(stateFolder));
  const lines = text.split('\n');
  if (lines.pop() !== '') throw damaged(tasksFile(stateFolder), 'the last line is cut off');
  const tasks = lines.map((line, index) => parseLine(line, `${tasksFile(stateFolder)}:${index + 1}`));
  const parsed = summarySchema.safeParse(
    parseJson(await readStored(summaryFile(stateFolder)), summaryFile(stateFolder)),
  );
  if (!parsed.success) throw damaged(summaryFile(stateFolder), z.prettifyError(parsed.error));
  if (parsed.data.tasks !== tasks.length) {
    throw damaged(tasksFile(stateFolder), `it holds ${tasks.length} tasks instead of ${parsed.data.tasks}`);
  }
  return { ...parsed.data, tasks };
}

function parseLine(line: string, where: string): Task {
  const parsed = taskSchema.safeParse(parseJson(line, where));
  if (!parsed.success) throw damaged(where, z.prettifyError(parsed.error));
  return parsed.data;
}

function parseJson(text: string, where: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw damaged(where, error instanceof Error ? error.message : String(error));
  }
}

async function readStored(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      throw badInput('No tasks have been built for this repository.', REMEDY, error);
    }
    throw explainFileError(error, 'read', path);
  }
}

async function writeWhole(path: string, text: string): Promise<void> {
  const draft = `${path}.${process.pid}.tmp`;
  try {
    await writeFile(draft, text, { flush: true });
    await rename(draft, path);
  } finally {
    await rm(draft, { force: true });
  }
}

const damaged = (where: string, why: string) => badInput(say`${where} is damaged: ${why}.`, REMEDY);
