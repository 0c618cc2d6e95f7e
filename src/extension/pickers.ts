import * as vscode from 'vscode';
import { badInput } from '../trajectory/errors.js';
import { pickOne } from './quickPick.js';
import type { Repository } from './repositories.js';
import type { RunStore } from './runs/runStore.js';
import { outcomeOf, shortTime, statusWord } from './runs/runTreeItem.js';
import type { RunOf } from './runs/runTree.js';
import { kindOfTask, type KnownTask } from './tasks/taskTree.js';
import type { TrajectoryAddress } from './trajectory/trajectoryAddress.js';
import { t } from './translate.js';

/** The one thing there is, or the user's choice; undefined where the user chose none. */
async function pick<T>(
  title: string,
  things: readonly T[],
  show: (thing: T) => vscode.QuickPickItem,
): Promise<T | undefined> {
  if (things.length === 1) return things[0];
  const items = things.map((thing) => ({ ...show(thing), thing }));
  const picked = await pickOne(items, { title, matchOnDescription: true });
  return picked?.thing;
}

export async function pickRepository(store: RunStore): Promise<Repository | undefined> {
  if ((await store.repositories()).length === 0) store.refresh();
  const repositories = await store.repositories();
  if (repositories.length === 0) {
    throw badInput(
      t('No git repository in the opened folder.'),
      t('Open the folder of a repository, or run `git init`.'),
    );
  }
  return pick(t('Repository'), repositories, ({ name, root }) => ({ label: name, description: root }));
}

/** Throws bad-input where there is no task. */
export async function pickTask(tasks: readonly KnownTask[]): Promise<KnownTask | undefined> {
  if (tasks.length === 0) throw badInput(t('No tasks have been made yet.'), t('Run `Whetstone: Build Tasks`.'));
  return pick(t('Task'), tasks, ({ task, repository }) => ({
    label: task.instance_id,
    description: `${kindOfTask(task)} · ${task.whetstone.split} · ${repository.name}`,
  }));
}

/** Throws bad-input, in the words given, where no run fits. */
export async function pickRun(
  store: RunStore,
  fits: (run: RunOf) => boolean,
  none: string,
): Promise<RunOf | undefined> {
  const runs = (await store.runs()).filter(fits);
  if (runs.length === 0) throw badInput(none, t('Run `Whetstone: Train on This Repo`.'));
  return pick(t('Run'), runs, ({ repository, summary }) => ({
    label: shortTime(summary.createdAt),
    description: `${statusWord(summary.status)} · ${repository.name}`,
    detail: summary.id,
  }));
}

export async function pickTrajectory(store: RunStore): Promise<TrajectoryAddress | undefined> {
  const run = await pickRun(store, () => true, t('There is no run yet.'));
  if (!run) return undefined;
  return pickTrajectoryOf(store, run.repository.stateFolder, run.summary.id);
}

export async function pickTrajectoryOf(
  store: RunStore,
  stateFolder: string,
  runId: string,
): Promise<TrajectoryAddress | undefined> {
  const headers = await (await store.reader(stateFolder, runId)).headers();
  if (headers.length === 0) throw badInput(t('This run has no trajectory yet.'), t('Wait for its first rollouts.'));
  const header = await pick(t('Trajectory'), [...headers].reverse(), (candidate) => {
    const { icon, word } = outcomeOf(candidate);
    return {
      label: candidate.taskId,
      iconPath: new vscode.ThemeIcon(icon),
      description: `${word} · ${candidate.reward === null ? t('no reward') : t('reward {0}', candidate.reward.toFixed(2))}`,
      detail: candidate.id,
    };
  });
  return header && { stateFolder, runId, trajectoryId: header.id };
}

export async function pickTurn(count: number, title = t('Replay up to and with')): Promise<number | undefined> {
  const turns = Array.from({ length: count }, (_, index) => index + 1);
  return pick(title, turns, (turn) => ({ label: t('Turn {0}', turn) }));
}
