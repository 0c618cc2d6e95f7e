import * as vscode from 'vscode';
import { badInput } from '../trajectory/errors.js';
import { Scheme } from './contributions.js';
import { runOf, type RunOf, type RunTreeNode } from './runs/runTree.js';
import { fromUriQuery, type TrajectoryAddress } from './trajectory/trajectoryAddress.js';
import { t } from './translate.js';

/** What a command may be called with: a node of the tree, the document of a trajectory, or nothing. */
export type Target = RunTreeNode | vscode.Uri | undefined;

/** Throws bad-input in a workspace that the user does not trust. */
export function requireTrust(): void {
  if (vscode.workspace.isTrusted) return;
  throw badInput(t('This runs the code of this repository.'), t('Trust the workspace first.'));
}

export function runOfTarget(target: Target): RunOf | undefined {
  return target && !(target instanceof vscode.Uri) ? runOf(target) : undefined;
}

/** The trajectory that is meant, or else the one in the active editor. */
export function addressOf(target: Target): TrajectoryAddress | undefined {
  return addressOfTarget(target) ?? addressOfTarget(vscode.window.activeTextEditor?.document.uri);
}

/** The trajectory that is meant; undefined where the target names none. */
export function addressOfTarget(target: Target): TrajectoryAddress | undefined {
  if (target instanceof vscode.Uri) return target.scheme === Scheme.Trajectory ? fromUriQuery(target.query) : undefined;
  const node = target?.kind === 'turn' ? target.parent : target;
  const run = node && runOf(node);
  if (node?.kind !== 'trajectory' || !run) return undefined;
  return { stateFolder: run.repository.stateFolder, runId: run.summary.id, trajectoryId: node.header.id };
}
