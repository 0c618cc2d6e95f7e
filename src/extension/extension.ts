import * as vscode from 'vscode';
import { registerCommands } from './commands.js';
import { createContext, type Context } from './context.js';
import { createDoctorView } from './doctor/doctorView.js';
import { Lifetime } from './lifetime.js';
import { registerTrajectoryProviders } from './trajectory/trajectoryProviders.js';
import { useTranslations } from './translate.js';

/** What other extensions, and the tests, get. */
export type Api = Pick<
  Context,
  | 'store'
  | 'tree'
  | 'doctor'
  | 'tasks'
  | 'taskDocuments'
  | 'taskTests'
  | 'dashboard'
  | 'rewards'
  | 'pictures'
  | 'touchedLines'
  | 'trainings'
  | 'trajectories'
  | 'decorations'
  | 'replays'
  | 'replaySessions'
  | 'replayFiles'
  | 'tokenStatus'
>;

export function activate({ extensionPath, subscriptions, workspaceState }: vscode.ExtensionContext): Api {
  useTranslations(vscode.l10n.bundle ?? {});
  const lifetime = new Lifetime('extension');
  subscriptions.push(lifetime);
  const context = createContext(extensionPath, lifetime, workspaceState);
  lifetime.add(registerCommands(context));
  lifetime.add(registerTrajectoryProviders(context.trajectories));
  lifetime.add(context.tree.mount());
  lifetime.add(context.tasks.mount());
  lifetime.add(createDoctorView(context.doctor, context.store));
  // Not awaited: finds running trainings again, e.g. after the window was reloaded.
  context.store.touch();
  return context;
}
