import * as vscode from 'vscode';
import { badInput } from '../../trajectory/errors.js';
import { requireTrust } from '../commandTargets.js';
import type { Context } from '../context.js';
import { notify } from '../messages.js';
import { pickRepository, pickTask } from '../pickers.js';
import { withCancellableProgress } from '../progress.js';
import { pickOne } from '../quickPick.js';
import type { Repository } from '../repositories.js';
import type { KnownTask } from '../tasks/taskTree.js';
import { chosenSettings } from '../training/chosenSettings.js';
import { t } from '../translate.js';
import { pickLanguageModel, withLentModel } from './lentModel.js';

/** Tasks to play, in words and as the command line is told. */
interface Choice {
  readonly title: string;
  readonly args: readonly string[];
}

/**
 * Plays tasks with a language model of the editor's and records the episodes as a run: the task that is given, or held-out ones as
 * the user chooses.
 * @param modelId the model; asked for where it is not given
 */
export async function evaluateWithModel(
  context: Context,
  task: KnownTask | undefined,
  modelId: string | undefined,
): Promise<void> {
  requireTrust();
  const repository = task?.repository ?? (await pickRepository(context.store));
  if (!repository) return;
  const model = await pickLanguageModel(modelId);
  if (!model) return;
  const choice = task ? oneTask(task) : await chooseTasks(context, repository, model);
  if (choice) await play(context, repository, model, choice);
}

async function play(
  context: Context,
  { root }: Repository,
  model: vscode.LanguageModelChat,
  choice: Choice,
): Promise<void> {
  const { evaluatedSchema, runCli } = await import('../engine.js');
  const { sandbox } = chosenSettings(vscode.Uri.file(root));
  const options = [...choice.args, ...(sandbox === undefined ? [] : ['--sandbox', sandbox])];
  const title = t('{0} plays {1}', model.name, choice.title);
  const { success, validCallRate } = await withLentModel(context, model, (player) =>
    withCancellableProgress(title, context.lifetime, (signal, onProgress) => {
      const args = ['eval', '--json', '--record', '--repo', root, ...options, ...player.args];
      return runCli({ cli: context.cli, repoRoot: root, args, env: player.env, onProgress }, evaluatedSchema, signal);
    }),
  ).finally(() => context.store.refresh());
  if (validCallRate === 0) {
    const text = t('{0} made no valid tool call: it may know none, or refuse. Choose another model.', model.name);
    notify(text, [], 'warning');
    return;
  }
  const solved = Math.round(success.rate * success.n);
  const show = { title: t('Show Runs'), run: () => vscode.commands.executeCommand('whetstone.runs.focus') };
  notify(t('{0} solved {1} of {2} tasks.', model.name, solved, success.n), [show]);
}

const oneTask = ({ task }: KnownTask): Choice => ({ title: task.instance_id, args: ['--task', task.instance_id] });

/** Few tasks first: what a model is asked may cost, or be counted. */
const few = 3;

async function chooseTasks(
  { tasks }: Context,
  repository: Repository,
  model: vscode.LanguageModelChat,
): Promise<Choice | undefined> {
  const all = (await tasks.tasks()).filter((known) => known.repository.root === repository.root && !known.exclusion);
  const heldOut = all.filter(({ task }) => task.whetstone.split === 'heldout').length;
  if (all.length === 0) throw badInput(t('No tasks have been made yet.'), t('Run `Whetstone: Build Tasks`.'));
  const { loadSettings } = await import('../engine.js');
  const { maxTurns, evaluationSamples } = await loadSettings(
    repository.root,
    chosenSettings(vscode.Uri.file(repository.root)),
  );
  const turns = maxTurns * evaluationSamples;
  const some = [few, heldOut].filter(
    (count, index, counts) => count > 0 && count <= heldOut && counts.indexOf(count) === index,
  );
  const items = [
    ...some.map((count) => ({
      label: count === heldOut ? t('All {0} Held-out Tasks', count) : t('{0} Held-out Tasks', count),
      detail: t('Up to {0} turns of {1}', count * turns, model.name),
      args: ['--evaluation-tasks', String(count)],
    })),
    { label: t('One Task…'), detail: t('Up to {0} turns of {1}', turns, model.name), args: null },
  ];
  const placeHolder = t('The model is shown what its tool calls read of this repository.');
  const picked = await pickOne(items, { title: t('Tasks to Play'), placeHolder });
  if (!picked) return undefined;
  if (picked.args !== null) return { title: picked.label, args: picked.args };
  const known = await pickTask(all);
  return known && oneTask(known);
}
