import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { git } from '../../env/repo/git.js';
import { splitNul } from '../../env/repo/gitOutput.js';
import type { Repository } from '../../env/repo/repository.js';
import { readBuilt, writeTasks } from '../../env/tasks/taskStore.js';
import { toolSchemas } from '../../env/tools/tools.js';
import type { Settings } from '../../trainer/run/settings.js';
import { badInput } from '../../trajectory/errors.js';
import { writeFolder, writeText } from '../export/exportFolder.js';
import { writeBundle, writeStartCommits } from '../export/startCommits.js';
import { serverContainerfile } from './containerfile.js';
import { trlProject } from './trlProject.js';
import { verlProject } from './verlProject.js';

const projects = { trl: trlProject, verl: verlProject };
export type Engine = keyof typeof projects;
export const engines = Object.keys(projects) as readonly Engine[];

/**
 * Writes the new folder `target`: a project that trains on the repository's tasks with the engine, and the recipe of the image that
 * serves them. The image holds the tasks' trees and no history. Gives the number of tasks.
 */
export async function writeProject(
  engine: Engine,
  repository: Repository,
  settings: Settings,
  model: string,
  target: string,
  signal?: AbortSignal,
): Promise<number> {
  const { key, ...built } = await readBuilt(repository.stateFolder);
  const { tasks } = built;
  if (tasks.length === 0) throw badInput('There is no task to train on.', 'Build some with `whetstone tasks build`.');
  await writeFolder(target, async (draft) => {
    for (const [name, text] of Object.entries(projects[engine](tasks, toolSchemas, settings, model))) {
      await writeText(draft, name, text);
    }
    const folder = await mkdtemp(path.join(tmpdir(), 'whetstone-cluster-'));
    try {
      const gitDir = path.join(folder, 'repository.git');
      const commits = await writeStartCommits(repository, tasks, gitDir, signal);
      const bases = [...new Set(tasks.map((task) => task.whetstone.base_tree))];
      await writeBundle(
        gitDir,
        bases.map((tree) => `base/${tree}`),
        path.join(draft, 'repository.bundle'),
        signal,
      );
      // What the server's environment is detected in; a task's own tree is looked up by its id.
      const { base } = commits.get(tasks[0].instance_id)!;
      const names = splitNul(await git({ folder: gitDir, gitDir, signal }, ['ls-tree', '-z', '--name-only', base]));
      await writeText(draft, 'Containerfile', serverContainerfile(names, base));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
    const state = path.join(draft, 'state');
    await mkdir(state, { recursive: true });
    await writeTasks(state, key, built);
  });
  return tasks.length;
}
