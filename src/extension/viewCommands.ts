import * as vscode from 'vscode';
import { badInput } from '../trajectory/errors.js';
import type { Context } from './context.js';
import { settingsSection, type ViewCommand } from './contributions.js';
import { evidenceAddress, type DoctorNode } from './doctor/doctorTree.js';
import { examine } from './doctor/examine.js';
import { pickRun } from './pickers.js';
import { revealTrajectory } from './revealTrajectory.js';
import { runOf, type RunOf, type RunTreeNode } from './runs/runTree.js';

/** What a view's command may be called with: a node of one of the views, or nothing. */
type Target = RunTreeNode | DoctorNode | undefined;

/** Every command of the views beside those of training and replay. */
export const viewCommands: Readonly<Record<ViewCommand, (context: Context, target: Target) => unknown>> = {
  'whetstone.examineRun': examineRun,
  'whetstone.openEvidence': openEvidence,
  'whetstone.openRemedySetting': openRemedySetting,
};

async function examineRun(context: Context, target: Target): Promise<void> {
  const run = runOfTarget(target) ?? (await pickRun(context.store, () => true, 'There is no run yet.'));
  if (run) await examine(context, run);
}

async function openEvidence({ trajectories }: Context, target: Target): Promise<void> {
  const finding = target?.kind === 'evidence' ? target.parent : target;
  const address = finding?.kind === 'finding' ? evidenceAddress(finding) : undefined;
  if (finding?.kind !== 'finding' || !address) {
    throw badInput('This finding is about no single trajectory.', 'Open one from the Doctor view.');
  }
  const { token } = finding.finding.evidence;
  await revealTrajectory(trajectories, address, token === null ? undefined : { token });
}

async function openRemedySetting(_: Context, target: Target): Promise<void> {
  const settings = target?.kind === 'remedy' ? target.settings : [];
  const query = settings.map((name) => `@id:${settingsSection}.${name}`).join(' ');
  await vscode.commands.executeCommand('workbench.action.openSettings', query || settingsSection);
}

function runOfTarget(target: Target): RunOf | undefined {
  if (!target) return undefined;
  switch (target.kind) {
    case 'examinedRun':
      return target.run;
    case 'finding':
      return target.parent.run;
    case 'evidence':
    case 'cause':
    case 'remedy':
      return target.parent.parent.run;
    default:
      return runOf(target);
  }
}
