import type * as vscode from 'vscode';
import { turnsOf } from '../trajectory/turns.js';
import type { RunStore } from './runStore.js';
import { paged, phases, runNode, runOf, tasks, trajectories, turnNodes, type RunTreeNode } from './runTree.js';
import { treeItem } from './runTreeItem.js';

/** The tree of runs: reads only what is unfolded. */
export class RunsTree implements vscode.TreeDataProvider<RunTreeNode> {
  readonly onDidChangeTreeData: vscode.Event<void>;

  constructor(private readonly store: RunStore) {
    this.onDidChangeTreeData = store.onDidChange;
  }

  getTreeItem(node: RunTreeNode): vscode.TreeItem {
    return treeItem(node);
  }

  getParent(node: RunTreeNode): RunTreeNode | undefined {
    return node.parent;
  }

  async getChildren(node?: RunTreeNode): Promise<RunTreeNode[]> {
    if (node?.kind === 'page') return [...node.nodes];
    return [...paged(node, node ? await this.childrenOf(node) : (await this.store.runs()).map(runNode))];
  }

  private async childrenOf(node: RunTreeNode): Promise<readonly RunTreeNode[]> {
    switch (node.kind) {
      case 'run': {
        const reader = await this.store.reader(node.repository.stateFolder, node.summary.id);
        const [headers, events] = await Promise.all([reader.headers(), reader.events()]);
        return phases(node, headers, events);
      }
      case 'phase':
        return tasks(node);
      case 'task':
        return trajectories(node);
      case 'trajectory': {
        const run = runOf(node);
        if (!run) return [];
        const reader = await this.store.reader(run.repository.stateFolder, run.summary.id);
        const trajectory = await reader.trajectory(node.header.id);
        return turnNodes(node, turnsOf(trajectory));
      }
      case 'turn':
      case 'page':
        return [];
    }
  }
}
