import { existsSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import { badInput } from '../trajectory/errors.js';
import { runPaths, runsFolder } from '../trainer/run/runDirectory.js';
import { isResumable, type Context } from './context.js';
import { addressOf, addressOfTarget, requireTrust, runOfTarget, type Target } from './commandTargets.js';
import {
  Command,
  settingsSection,
  type DebugCommand,
  type PlayCommand,
  type TaskCommand,
  type ViewCommand,
} from './contributions.js';
import { debugCommands } from './debugCommands.js';
import { openTrajectoryFile } from './importTrajectories.js';
import { Lifetime } from './lifetime.js';
import { showError } from './messages.js';
import { pickRepository, pickRun, pickTrajectory, pickTurn } from './pickers.js';
import { playCommands } from './playCommands.js';
import { withCancellableProgress } from './progress.js';
import { revealTrajectory } from './revealTrajectory.js';
import { taskCommands } from './tasks/taskCommands.js';
import { pickTraining } from './training/pickTraining.js';
import { isAlive } from './training/trainings.js';
import { chooseTokenColours } from './trajectory/tokenDecorations.js';
import { trajectoryUri } from './trajectory/trajectoryDocuments.js';
import { turnsOf } from './trajectory/turns.js';
import { viewCommands } from './viewCommands.js';
import { t } from './translate.js';

type Handler = (context: Context, target: Target, detail?: unknown) => unknown;

/** Every command, beside those of other files, and what it does. */
const table: Readonly<Record<Exclude<Command, ViewCommand | DebugCommand | TaskCommand | PlayCommand>, Handler>> = {
  [Command.Train]: train,
  [Command.TrainWith]: trainWith,
  [Command.Stop]: (context, target) => tell(context, target, 'stop'),
  [Command.Pause]: (context, target) => tell(context, target, 'pause'),
  [Command.Resume]: resume,
  [Command.RefreshRuns]: ({ store }) => store.refresh(),
  [Command.OpenTrajectory]: openTrajectory,
  [Command.OpenTrajectoryFile]: openTrajectoryFile,
  [Command.Replay]: (context, target) => replay(context, target),
  [Command.ReplayToTurn]: replayToTurn,
  [Command.ShowLog]: showLog,
  [Command.ChooseTokenColours]: chooseTokenColours,
};

/** Registers every command; whatever one throws is shown, with a way on. */
export function registerCommands(context: Context): vscode.Disposable {
  const lifetime = new Lifetime('commands');
  for (const [command, handler] of Object.entries({
    ...table,
    ...viewCommands,
    ...debugCommands,
    ...taskCommands,
    ...playCommands,
  })) {
    lifetime.add(
      vscode.commands.registerCommand(command, async (target: never, detail?: unknown) => {
        try {
          // A debugger's toolbar hands over null.
          await handler(context, target ?? undefined, detail);
        } catch (error) {
          const openSettings = () => vscode.commands.executeCommand('workbench.action.openSettings', settingsSection);
          showError(error, context.log, [{ title: t('Open Settings'), run: openSettings }]);
        }
      }),
    );
  }
  return lifetime;
}

async function train({ store, trainings }: Context): Promise<void> {
  requireTrust();
  const repository = await pickRepository(store);
  if (!repository) return;
  await trainings.start(repository);
  await vscode.commands.executeCommand('whetstone.runs.focus');
}

async function trainWith(context: Context): Promise<void> {
  requireTrust();
  const repository = await pickRepository(context.store);
  const chosen = repository && (await pickTraining(context, repository));
  if (!chosen) return;
  await context.trainings.start(repository, undefined, chosen);
  await vscode.commands.executeCommand('whetstone.runs.focus');
}

async function resume({ store, trainings }: Context, target: Target): Promise<void> {
  requireTrust();
  const none = t('No run can be resumed.');
  const run = runOfTarget(target) ?? (await pickRun(store, ({ summary }) => isResumable(summary.status), none));
  if (!run) return;
  const handle = await trainings.handle(run);
  if (handle) handle.resume();
  else await trainings.start(run.repository, run.summary.id);
}

async function tell({ store, trainings }: Context, target: Target, wish: 'stop' | 'pause'): Promise<void> {
  const run =
    runOfTarget(target) ?? (await pickRun(store, ({ summary }) => isAlive(summary), t('No training is running.')));
  if (!run) return;
  const handle = await trainings.handle(run);
  if (!handle) throw badInput(t('Run {0} is not running.', run.summary.id), '');
  handle[wish]();
}

async function openTrajectory({ store, trajectories }: Context, target: Target): Promise<void> {
  const address = addressOfTarget(target) ?? (await pickTrajectory(store));
  if (!address) return;
  const turn = target && 'turn' in target ? target.turn.number : undefined;
  await revealTrajectory(trajectories, address, turn === undefined ? undefined : { turn });
}

async function replay(context: Context, target: Target, until?: number): Promise<void> {
  requireTrust();
  const address = addressOf(target) ?? (await pickTrajectory(context.store));
  if (!address) return;
  const { runId, trajectoryId, stateFolder } = address;
  const request = { cli: context.cli, repoRoot: path.dirname(stateFolder), runId, trajectoryId, until };
  const upTo = until === undefined ? '' : ` ${t('to turn {0}', until)}`;
  const { runReplay } = await import('./engine.js');
  const title = t('Replaying {0} in a fresh worktree', `${trajectoryId}${upTo}`);
  const result = await withCancellableProgress(title, context.lifetime, (signal) => runReplay(request, signal));
  const uri = context.replays.add(`${trajectoryId}${upTo}`, result);
  await vscode.window.showTextDocument(uri, { viewColumn: vscode.ViewColumn.Beside, preview: false });
}

async function replayToTurn(context: Context, target: Target, detail?: unknown): Promise<void> {
  const address = addressOf(target) ?? (await pickTrajectory(context.store));
  if (!address) return;
  const named = typeof detail === 'number' ? detail : target && 'turn' in target ? target.turn.number : undefined;
  const reader = await context.store.reader(address.stateFolder, address.runId);
  const turn = named ?? (await pickTurn(turnsOf(await reader.trajectory(address.trajectoryId)).length));
  if (turn !== undefined) await replay(context, trajectoryUri(address), turn);
}

async function showLog({ store }: Context, target: Target | string, detail?: unknown): Promise<void> {
  let file: string | undefined;
  if (typeof target === 'string' && typeof detail === 'string') {
    file = runPaths(path.join(runsFolder(target), detail)).log;
  } else if (typeof target !== 'string') {
    const run = runOfTarget(target) ?? (await pickRun(store, () => true, t('There is no run yet.')));
    file = run && runPaths(run.summary.folder).log;
  }
  if (file === undefined) return;
  if (!existsSync(file)) throw badInput(t('This run wrote no log.'), '');
  await vscode.window.showTextDocument(vscode.Uri.file(file));
}
