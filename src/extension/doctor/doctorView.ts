import * as vscode from 'vscode';
import { View } from '../contributions.js';
import { Lifetime } from '../lifetime.js';
import { isCritical } from '../runs/foundFindings.js';
import type { RunStore } from '../runs/runStore.js';
import { t } from '../translate.js';
import { isAlive } from '../training/trainings.js';
import { detailsOf, examinedRuns, findingNodes, type DoctorNode } from './doctorTree.js';
import { doctorTreeItem } from './doctorTreeItem.js';

/** What the doctor found in the runs, while they train and after. */
export class DoctorTree implements vscode.TreeDataProvider<DoctorNode> {
  readonly onDidChangeTreeData: vscode.Event<void>;

  constructor(private readonly store: RunStore) {
    this.onDidChangeTreeData = store.onDidChange;
  }

  getTreeItem(node: DoctorNode): vscode.TreeItem {
    return doctorTreeItem(node);
  }

  getParent(node: DoctorNode): DoctorNode | undefined {
    return node.parent;
  }

  async getChildren(node?: DoctorNode): Promise<DoctorNode[]> {
    if (!node) return [...examinedRuns(await this.store.runs())];
    if (node.kind === 'examinedRun') return [...findingNodes(node)];
    return node.kind === 'finding' ? [...detailsOf(node)] : [];
  }
}

/** The view, whose badge counts what is critical in the runs that train now. */
export function createDoctorView(tree: DoctorTree, store: RunStore): vscode.Disposable {
  const lifetime = new Lifetime('doctor view');
  const view = lifetime.add(
    vscode.window.createTreeView(View.Doctor, { treeDataProvider: tree, showCollapseAll: true }),
  );
  const count = async () => {
    const living = (await store.runs()).filter(({ summary }) => isAlive(summary));
    const value = living.flatMap(({ findings }) => findings).filter(isCritical).length;
    view.badge =
      value === 0 ? undefined : { value, tooltip: t('Findings of the doctor in what trains now: {0} critical', value) };
  };
  lifetime.add(store.onDidChange(() => void count().catch(() => undefined)));
  lifetime.add(view.onDidChangeVisibility(({ visible }) => store.watch(View.Doctor, visible)));
  return lifetime;
}
