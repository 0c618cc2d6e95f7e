import path from 'node:path';
import * as vscode from 'vscode';
import { badInput } from '../../trajectory/errors.js';
import { Command, PanelType } from '../contributions.js';
import { Panels } from '../pages/panels.js';
import { revealTrajectory } from '../revealTrajectory.js';
import type { RewardDebugger } from '../reward/rewardDebugger.js';
import type { RunStore } from '../runs/runStore.js';
import { t } from '../translate.js';
import { kindWord } from '../trajectory/kindWord.js';
import { trajectoryUri, type TrajectoryDocuments } from '../trajectory/trajectoryDocuments.js';
import { fileInside } from './fileInside.js';
import { groupOfKey, keyOfGroup, readGroup, type GroupAddress } from './groups.js';
import { groupTree } from './groupTree.js';
import type { TouchedLines } from './touchedLinesView.js';
import type { FromTree, ToTree } from './treeMessages.js';

interface PictureContext {
  readonly log: vscode.LogOutputChannel;
  readonly store: RunStore;
  readonly trajectories: TrajectoryDocuments;
  readonly rewards: RewardDebugger;
}

/** Pictures of groups: what their rollouts share drawn once, one panel a group. */
export class TreePictures implements vscode.Disposable {
  private readonly panels: Panels<ToTree, FromTree>;

  constructor(
    private readonly context: PictureContext,
    private readonly touchedLines: TouchedLines,
    extensionUri: vscode.Uri,
  ) {
    const titleOf = (key: string) => t('Rollouts of {0}', groupOfKey(key).taskId);
    const receive = (key: string, message: FromTree) => this.answer(key, message);
    this.panels = new Panels({ type: PanelType.Tree, page: 'tree', titleOf, receive }, extensionUri, context.log);
  }

  show(group: GroupAddress): void {
    this.panels.show(keyOfGroup(group));
  }

  dispose(): void {
    this.panels.dispose();
  }

  private async answer(key: string, message: FromTree): Promise<void> {
    const group = groupOfKey(key);
    const { stateFolder, runId } = group;
    const { trajectories, rewards } = this.context;
    switch (message.type) {
      case 'ready':
        return this.send(key, group);
      case 'open': {
        const address = { stateFolder, runId, trajectoryId: message.trajectoryId };
        const place = { message: message.message };
        return revealTrajectory(trajectories, address, place, { viewColumn: vscode.ViewColumn.Beside });
      }
      case 'explain':
        return rewards.show({ stateFolder, runId, trajectoryId: message.trajectoryId });
      case 'replay': {
        const uri = trajectoryUri({ stateFolder, runId, trajectoryId: message.trajectoryId });
        await vscode.commands.executeCommand(Command.Replay, uri);
        return;
      }
      case 'openFile':
        return openFile(path.dirname(stateFolder), message.file);
      case 'touchedLines':
        return this.touchedLines.show(group);
    }
  }

  private async send(key: string, group: GroupAddress): Promise<void> {
    const { rollouts, leftOut } = await readGroup(this.context.store, group);
    const title = `${group.taskId} · ${t('{0} of step {1}', kindWord(group.kind), group.step)}`;
    this.panels.post(key, { type: 'tree', key, title, nodes: groupTree(rollouts), leftOut });
  }
}

/** Opens a file that a policy named; one outside of the repository is refused. */
async function openFile(root: string, file: string): Promise<void> {
  const target = fileInside(root, file);
  if (target === undefined) {
    throw badInput(t('{0} lies outside of the repository.', JSON.stringify(file)), '');
  }
  await vscode.window.showTextDocument(vscode.Uri.file(target), { viewColumn: vscode.ViewColumn.Beside });
}
