import { stat } from 'node:fs/promises';
import path from 'node:path';
import * as vscode from 'vscode';
import type { TrajectoryHeader } from '../../trainer/run/runRecord.js';
import { ContextKey, View } from '../contributions.js';
import { setContextKey } from '../contextKeys.js';
import { choiceInWords, fits, isChosen, noChoice, type Choice } from '../facets.js';
import { ChosenOrder } from '../chosenOrder.js';
import { Lifetime } from '../lifetime.js';
import { pickFacets } from '../pickFacets.js';
import { plainLine } from '../plainText.js';
import type { Repository } from '../repositories.js';
import { headersAmongOthers } from '../runs/headersAmongOthers.js';
import type { RunStore } from '../runs/runStore.js';
import { childrenOfTask, recordsOf, taskFacets, taskNodes, type KnownTask, type TaskTreeNode } from './taskTree.js';
import { taskOrders } from './taskOrders.js';
import { taskTreeItem } from './taskTreeItem.js';
import { t } from '../translate.js';
import { throwPlainly } from '../viewFailure.js';

/** A task, and whether a person left it out. */
type StoredTask = Pick<KnownTask, 'task' | 'exclusion'>;

/** The stored tasks of the window's repositories, read again only where their files changed, in the order that the user chose. */
export class TasksTree implements vscode.TreeDataProvider<TaskTreeNode>, vscode.Disposable {
  private readonly lifetime = new Lifetime('tasks');
  private readonly changed = this.lifetime.add(new vscode.EventEmitter<void>());
  private readonly read = new Map<string, { stamp: string; tasks: Promise<readonly StoredTask[]> }>();
  private readonly order: ChosenOrder<KnownTask>;
  private choice = noChoice;
  private view?: vscode.TreeView<TaskTreeNode>;

  readonly onDidChangeTreeData = this.changed.event;

  constructor(
    private readonly store: RunStore,
    memory: vscode.Memento,
  ) {
    this.order = new ChosenOrder(memory, 'order of tasks', taskOrders);
    this.lifetime.add(
      store.onDidChange(() => {
        this.changed.fire();
        void this.tellWhetherThereAre().catch(() => undefined);
      }),
    );
  }

  /** Mounts the view; its line of text says what it does not show. */
  mount(): vscode.Disposable {
    this.view = vscode.window.createTreeView(View.Tasks, { treeDataProvider: this, showCollapseAll: true });
    this.lifetime.add(this.view.onDidChangeVisibility(({ visible }) => this.store.watch(View.Tasks, visible)));
    return this.lifetime.add(this.view);
  }

  getTreeItem(node: TaskTreeNode): vscode.TreeItem {
    return taskTreeItem(node);
  }

  getParent(node: TaskTreeNode): TaskTreeNode | undefined {
    return node.parent;
  }

  async getChildren(node?: TaskTreeNode): Promise<TaskTreeNode[]> {
    if (node) return [...childrenOfTask(node)];
    const all = await this.tasks().catch(throwPlainly);
    const shown = this.order.apply(all.filter((known) => fits(taskFacets, this.choice, known)));
    setContextKey(
      ContextKey.HasExcludedTasks,
      all.some(({ exclusion }) => exclusion),
    );
    if (this.view) {
      const words = choiceInWords(taskFacets, this.choice);
      this.view.description = this.order.words;
      this.view.message =
        words === '' ? undefined : plainLine(t('{0} of {1} tasks: {2}', shown.length, all.length, words));
    }
    return [...taskNodes(shown)];
  }

  /** Every task with what became of it in the runs. */
  async tasks(): Promise<readonly KnownTask[]> {
    const repositories = await this.store.repositories();
    const lists = await Promise.all(repositories.map((repository) => this.tasksOf(repository)));
    return lists.flat();
  }

  /** Looks again: tasks were built, or dropped. */
  refresh(): void {
    this.read.clear();
    this.changed.fire();
    void this.tellWhetherThereAre().catch(() => undefined);
  }

  async chooseFilter(): Promise<void> {
    const choice = await pickFacets(t('Filter tasks'), taskFacets, await this.tasks(), this.choice);
    if (choice) this.filter(choice);
  }

  async chooseOrder(): Promise<void> {
    if (await this.order.pick(t('Sort Tasks'))) this.changed.fire();
  }

  /** Puts the tasks in the order of that id (`taskOrders.ts`). */
  async sort(id: string): Promise<void> {
    await this.order.choose(id);
    this.changed.fire();
  }

  filter(choice: Choice): void {
    this.choice = choice;
    setContextKey(ContextKey.TasksFiltered, isChosen(choice));
    this.changed.fire();
  }

  dispose(): void {
    this.lifetime.dispose();
  }

  /** Without reading them: commands go by it, whether or not the view is in sight. */
  private async tellWhetherThereAre(): Promise<void> {
    const repositories = await this.store.repositories();
    const stamps = await Promise.all(repositories.map(({ stateFolder }) => stampOf(stateFolder, 'funnel.json')));
    setContextKey(
      ContextKey.HasTasks,
      stamps.some((stamp) => stamp !== ''),
    );
  }

  private async tasksOf(repository: Repository): Promise<readonly KnownTask[]> {
    const tasks = await this.stored(repository.stateFolder);
    if (tasks.length === 0) return [];
    const records = recordsOf(await this.played(repository));
    return tasks.map(({ task, exclusion }) => ({
      repository,
      task,
      exclusion,
      record: records.get(task.instance_id) ?? { played: 0, solved: 0 },
    }));
  }

  private async stored(stateFolder: string): Promise<readonly StoredTask[]> {
    const [summary, excluded] = await Promise.all(
      ['funnel.json', 'excluded.json'].map((name) => stampOf(stateFolder, name)),
    );
    if (summary === '') return [];
    const stamp = `${summary}, ${excluded}`;
    const known = this.read.get(stateFolder);
    if (known?.stamp === stamp) return known.tasks;
    const tasks = readStored(stateFolder);
    this.read.set(stateFolder, { stamp, tasks });
    return tasks;
  }

  private async played({ root }: Repository): Promise<readonly TrajectoryHeader[]> {
    const runs = (await this.store.runs()).filter(({ repository }) => repository.root === root);
    const lists = await Promise.all(runs.map((run) => headersAmongOthers(this.store, run)));
    return lists.flat();
  }
}

/** Changes whenever the file of the state folder does; empty where there is none. */
const stampOf = (stateFolder: string, name: string): Promise<string> =>
  stat(path.join(stateFolder, 'tasks', name)).then(
    ({ mtimeMs, size }) => `${mtimeMs} ${size}`,
    () => '',
  );

async function readStored(stateFolder: string): Promise<readonly StoredTask[]> {
  const { readExclusions, readTasks } = await import('../engine.js');
  const [tasks, excluded] = await Promise.all([readTasks(stateFolder), readExclusions(stateFolder)]);
  return tasks.map((task) => ({ task, exclusion: excluded.get(task.instance_id) }));
}
