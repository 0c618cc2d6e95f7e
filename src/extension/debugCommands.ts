import * as vscode from 'vscode';
import { badInput } from '../trajectory/errors.js';
import { addressOf, requireTrust, type Target } from './commandTargets.js';
import type { Context } from './context.js';
import { DebugCommand } from './contributions.js';
import type { Against } from './debug/replayFiles.js';
import { notify } from './messages.js';
import { pickTrajectory } from './pickers.js';
import { t } from './translate.js';

type Handler = (context: Context, target: Target, detail?: unknown) => unknown;

/** Every command about replays as debug sessions. */
export const debugCommands: Readonly<Record<DebugCommand, Handler>> = {
  [DebugCommand.StepThrough]: stepThrough,
  [DebugCommand.CompareWithStart]: (context) => compare(context, 'start'),
  [DebugCommand.CompareWithPrevious]: (context) => compare(context, 'previous'),
  [DebugCommand.CompareWithOracle]: (context) => compare(context, 'oracle'),
};

async function stepThrough(context: Context, target: Target, detail?: unknown): Promise<void> {
  requireTrust();
  const address = addressOf(target) ?? (await pickTrajectory(context.store));
  if (!address) return;
  const turn = target && 'turn' in target ? target.turn.number : undefined;
  await context.replaySessions.start(address, typeof detail === 'number' ? detail : turn);
}

async function compare({ replayFiles }: Context, against: Against): Promise<void> {
  const comparison = replayFiles.comparison(against);
  if (!comparison)
    throw badInput(t('No replay is being stepped through.'), t('Start one: `Whetstone: Step Through Trajectory`.'));
  const { title, files } = comparison;
  if (files.length === 0) notify(t('{0}: no file differs.', title));
  else await vscode.commands.executeCommand('vscode.changes', title, files);
}
