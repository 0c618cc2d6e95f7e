import * as vscode from 'vscode';
import type { TrajectoryHeader } from '../../trainer/run/runRecord.js';
import { ContextKey, View } from '../contributions.js';
import { setContextKey } from '../contextKeys.js';
import { choiceInWords, fits, isChosen, noChoice, type Choice } from '../facets.js';
import { ChosenOrder } from '../chosenOrder.js';
import { Lifetime } from '../lifetime.js';
import { pickFacets } from '../pickFacets.js';
import { plainLine } from '../plainText.js';
import { turnsOf } from '../trajectory/turns.js';
import { headersAmongOthers } from './headersAmongOthers.js';
import { runFacets, type FilteredTrajectory } from './runFilter.js';
import { trajectoryOrders } from './runOrders.js';
import type { RunStore } from './runStore.js';
import { paged, phases, runNode, runOf, tasks, trajectories, turnNodes, type RunTreeNode } from './runTree.js';
import { treeItem } from './runTreeItem.js';
import { t } from '../translate.js';
import { throwPlainly } from '../viewFailure.js';

/** The tree of runs: reads only what is unfolded, and shows what fits its filter, in the order that the user chose. */
export class RunsTree implements vscode.TreeDataProvider<RunTreeNode>, vscode.Disposable {
  private readonly lifetime = new Lifetime('runs');
  private readonly changed = this.lifetime.add(new vscode.EventEmitter<void>());
  private choice = noChoice;
  private readonly order: ChosenOrder<TrajectoryHeader>;
  private view?: vscode.TreeView<RunTreeNode>;
  /** The headers of the run that was last unfolded, so that its reader need not make them anew at each refresh. */
  private readonly held = new Set<readonly TrajectoryHeader[]>();

  readonly onDidChangeTreeData = this.changed.event;

  constructor(
    private readonly store: RunStore,
    memory: vscode.Memento,
  ) {
    this.order = new ChosenOrder(memory, 'order of trajectories', trajectoryOrders);
    this.lifetime.add(store.onDidChange(() => this.changed.fire()));
  }

  /** Mounts the view; its line of text says what it does not show. */
  mount(): vscode.Disposable {
    this.view = vscode.window.createTreeView(View.Runs, { treeDataProvider: this, showCollapseAll: true });
    this.view.description = this.order.words;
    this.lifetime.add(this.view.onDidChangeVisibility(({ visible }) => this.store.watch(View.Runs, visible)));
    return this.lifetime.add(this.view);
  }

  async chooseFilter(): Promise<void> {
    const runs = await this.store.runs();
    const lists = await Promise.all(
      runs.map(async (run) => {
        const headers = await headersAmongOthers(this.store, run);
        return headers.map((header): FilteredTrajectory => ({ header, findings: run.findings }));
      }),
    );
    const choice = await pickFacets(t('Filter trajectories'), runFacets, lists.flat(), this.choice);
    if (choice) this.filter(choice);
  }

  async chooseOrder(): Promise<void> {
    if (await this.order.pick(t('Sort Trajectories'))) this.orderChanged();
  }

  /** Puts trajectories in the order of that id (`runOrders.ts`). */
  async sort(id: string): Promise<void> {
    await this.order.choose(id);
    this.orderChanged();
  }

  filter(choice: Choice): void {
    this.choice = choice;
    const words = choiceInWords(runFacets, choice);
    setContextKey(ContextKey.RunsFiltered, isChosen(choice));
    if (this.view) this.view.message = words === '' ? undefined : plainLine(t('Shown: {0}', words));
    this.changed.fire();
  }

  dispose(): void {
    this.lifetime.dispose();
  }

  getTreeItem(node: RunTreeNode): vscode.TreeItem {
    return treeItem(node);
  }

  getParent(node: RunTreeNode): RunTreeNode | undefined {
    return node.parent;
  }

  async getChildren(node?: RunTreeNode): Promise<RunTreeNode[]> {
    if (node?.kind === 'page') return [...node.nodes];
    return [...paged(node, await this.nodesIn(node).catch(throwPlainly))];
  }

  private async nodesIn(node: RunTreeNode | undefined): Promise<readonly RunTreeNode[]> {
    return node ? this.childrenOf(node) : (await this.store.runs()).map(runNode);
  }

  private orderChanged(): void {
    if (this.view) this.view.description = this.order.words;
    this.changed.fire();
  }

  private async childrenOf(node: RunTreeNode): Promise<readonly RunTreeNode[]> {
    switch (node.kind) {
      case 'run': {
        const reader = await this.store.reader(node.repository.stateFolder, node.summary.id);
        const [headers, events] = await Promise.all([reader.headers(), reader.events()]);
        this.held.clear();
        this.held.add(headers);
        const shown = headers.filter((header) => fits(runFacets, this.choice, { header, findings: node.findings }));
        return phases(node, shown, events);
      }
      case 'phase':
        return tasks(node, this.order.current);
      case 'task':
        return trajectories(node, this.order.current);
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
