import { Option, type Command } from 'commander';
import { excludeTask, includeTask, readExclusions } from '../../env/tasks/excludedTasks.js';
import { badInput } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';
import { locateState, repoOption, type RepoOptions } from '../options.js';
import { print, printable } from '../output.js';
import { taskById } from '../tasks.js';

/** `whetstone tasks exclude` and `include`. */
export function addTaskExclusionCommands(tasks: Command): void {
  tasks
    .command('exclude <task>')
    .description('leave a task out of trainings that begin and of evaluations, until it is included again')
    .addOption(repoOption())
    .addOption(new Option('--reason <text>', 'why, for whoever looks at the tasks').default(''))
    .action(exclude);
  tasks
    .command('include <task>')
    .description('take a task in again that was excluded')
    .addOption(repoOption())
    .action(include);
}

async function exclude(id: string, options: RepoOptions & { readonly reason: string }): Promise<void> {
  const { stateFolder } = await locateState(options);
  const { instance_id } = await taskById(stateFolder, id);
  await excludeTask(stateFolder, instance_id, options.reason.replace(/\s+/g, ' ').trim());
  print(printable(`${instance_id} is left out. Take it in again with \`whetstone tasks include\`.`));
}

async function include(id: string, options: RepoOptions): Promise<void> {
  const { stateFolder } = await locateState(options);
  // Not looked for among the tasks: a new build may have dropped it.
  if (!(await readExclusions(stateFolder)).has(id))
    throw badInput(say`The task ${JSON.stringify(id)} is not excluded.`, 'See `whetstone tasks list`.');
  await includeTask(stateFolder, id);
  print(printable(`${id} is included again.`));
}
