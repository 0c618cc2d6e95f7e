import * as vscode from 'vscode';
import { requireTrust } from '../commandTargets.js';
import type { Context } from '../context.js';
import { TaskCommand } from '../contributions.js';
import { badInput } from '../../trajectory/errors.js';
import { pickTask } from '../pickers.js';
import { t } from '../translate.js';
import type { KnownTask, TaskTreeNode } from './taskTree.js';

type Target = TaskTreeNode | undefined;

/** Every command of tasks that does something with them beside showing them. */
export const taskCommands: Readonly<Record<TaskCommand, (context: Context, target: Target) => unknown>> = {
  [TaskCommand.RunTests]: runTests,
  [TaskCommand.Exclude]: exclude,
  [TaskCommand.Include]: include,
  [TaskCommand.Sort]: ({ tasks }) => tasks.chooseOrder(),
};

async function runTests({ tasks, taskTests }: Context, target: Target): Promise<void> {
  requireTrust();
  const known = knownOf(target) ?? (await pickTask(await tasks.tasks()));
  if (!known) return;
  if (target?.kind === 'test') return taskTests.runOf(known, [target.test]);
  if (target?.kind === 'tests') return taskTests.runOf(known, known.task[target.which]);
  return taskTests.runOf(known);
}

async function exclude({ tasks }: Context, target: Target): Promise<void> {
  const known = knownOf(target) ?? (await pickTask((await tasks.tasks()).filter(({ exclusion }) => !exclusion)));
  if (!known) return;
  const reason = await vscode.window.showInputBox({
    title: t('Exclude {0} from training and evaluation', known.task.instance_id),
    prompt: t('Why? It may stay empty.'),
    value: known.exclusion?.reason ?? '',
  });
  if (reason === undefined) return;
  const { excludeTask } = await import('../engine.js');
  await excludeTask(known.repository.stateFolder, known.task.instance_id, reason.replace(/\s+/g, ' ').trim());
  tasks.refresh();
}

async function include({ tasks }: Context, target: Target): Promise<void> {
  const known = knownOf(target) ?? (await pickExcluded(await tasks.tasks()));
  if (!known) return;
  const { includeTask } = await import('../engine.js');
  await includeTask(known.repository.stateFolder, known.task.instance_id);
  tasks.refresh();
}

async function pickExcluded(tasks: readonly KnownTask[]): Promise<KnownTask | undefined> {
  const excluded = tasks.filter(({ exclusion }) => exclusion);
  if (excluded.length === 0) throw badInput(t('No task is excluded.'), '');
  return pickTask(excluded);
}

function knownOf(target: Target): KnownTask | undefined {
  switch (target?.kind) {
    case 'knownTask':
      return target;
    case 'tests':
      return target.parent;
    case 'test':
      return target.parent.parent;
    default:
      return undefined;
  }
}
