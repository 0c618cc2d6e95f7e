import { mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Repository } from '../../env/repo/repository.js';
import { readBuilt, writeTasks } from '../../env/tasks/taskStore.js';
import { toolSchemas } from '../../env/tools/tools.js';
import type { Task } from '../../trajectory/task.js';
import { writeFolder, writeText } from './exportFolder.js';
import { harborFiles, type HarborLimits } from './harbor.js';
import { branchOf, checkOut, writeBundle, writeStartCommits } from './startCommits.js';
import { toSweBench } from './sweBench.js';
import { toSweSmith } from './sweSmith.js';
import { toTrlPrompt } from './trl.js';
import { toVerifiersTask } from './verifiers.js';

export const taskFormats = ['swebench', 'swesmith', 'harbor', 'verifiers', 'trl'] as const;
export type TaskFormat = (typeof taskFormats)[number];

export interface ExportedTasks {
  readonly written: number;
  /** Tasks that the format has no words for. */
  readonly leftOut: number;
  /** Relative to the folder: what to look at first. */
  readonly main: string;
}

export interface TaskExport {
  readonly format: TaskFormat;
  readonly limits: HarborLimits;
  readonly signal?: AbortSignal;
}

/** Writes the tasks into the new folder `target`, in another system's format. */
export async function exportTasks(
  repository: Repository,
  tasks: readonly Task[],
  target: string,
  options: TaskExport,
): Promise<ExportedTasks> {
  return writeFolder(target, (draft) => writers[options.format](repository, tasks, draft, options));
}

type Writer = (
  repository: Repository,
  tasks: readonly Task[],
  draft: string,
  options: TaskExport,
) => Promise<ExportedTasks>;

const jsonLines = (rows: readonly unknown[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');
const all = (tasks: readonly Task[], main: string) => ({ written: tasks.length, leftOut: 0, main });

const writers: Readonly<Record<TaskFormat, Writer>> = {
  swebench: async (repository, tasks, draft, { signal }) => {
    const commits = await writeStartCommits(repository, tasks, path.join(draft, 'repository.git'), signal);
    const rows = tasks.map((task) => {
      const { base, start } = commits.get(task.instance_id)!;
      return toSweBench(task, task.test_patch === '' ? start : base);
    });
    await writeText(draft, 'tasks.jsonl', jsonLines(rows));
    return all(tasks, 'tasks.jsonl');
  },
  swesmith: async (repository, tasks, draft, { signal }) => {
    const commits = await writeStartCommits(repository, tasks, path.join(draft, 'repository.git'), signal);
    const rows = tasks
      .map((task) => toSweSmith(task, commits.get(task.instance_id)!.base, imageOf(task)))
      .filter((row) => row !== null);
    await writeText(draft, 'tasks.jsonl', jsonLines(rows));
    return { written: rows.length, leftOut: tasks.length - rows.length, main: 'tasks.jsonl' };
  },
  harbor: async (repository, tasks, draft, { limits, signal }) => {
    const gitDir = path.join(draft, '.repository.git');
    const commits = await writeStartCommits(repository, tasks, gitDir, signal);
    const { key, ...built } = await readBuilt(repository.stateFolder);
    for (const task of tasks) {
      const folder = path.join(draft, task.instance_id);
      const own = commits.get(task.instance_id)!;
      const files = path.join(folder, 'environment', 'repository');
      await checkOut(gitDir, own.start, files, signal);
      for (const [name, text] of Object.entries(harborFiles(task, own, await readdir(files), limits))) {
        await writeText(folder, name, text);
      }
      const branches = [branchOf(task), `base/${task.whetstone.base_tree}`];
      await writeBundle(gitDir, branches, path.join(folder, 'tests', 'task.bundle'), signal);
      const state = path.join(folder, 'tests', 'state');
      await mkdir(state, { recursive: true });
      await writeTasks(state, key, { ...built, tasks: [task] });
    }
    await rm(gitDir, { recursive: true });
    return all(tasks, '.');
  },
  verifiers: async (_, tasks, draft) => {
    await writeText(draft, 'tasks.jsonl', jsonLines(tasks.map((task, i) => toVerifiersTask(task, i, toolSchemas))));
    return all(tasks, 'tasks.jsonl');
  },
  trl: async (_, tasks, draft) => {
    await writeText(draft, 'prompts.jsonl', jsonLines(tasks.map((task) => toTrlPrompt(task, toolSchemas))));
    await writeText(draft, 'tools.json', `${JSON.stringify(toolSchemas, null, 2)}\n`);
    return all(tasks, 'prompts.jsonl');
  },
};

/** Name of the image that `whetstone serve`'s recipe is to be built under. */
const imageOf = (task: Task) =>
  `whetstone/${
    task.repo
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-|-$/g, '') || 'repository'
  }:${task.base_commit.slice(0, 12)}`;
