import { stat } from 'node:fs/promises';
import path from 'node:path';
import * as vscode from 'vscode';
import type { TrajectoryHeader } from '../../trainer/run/runRecord.js';
import type { Task } from '../../trajectory/task.js';
import { ContextKey, View } from '../contributions.js';
import { setContextKey } from '../contextKeys.js';
import { choiceInWords, fits, noChoice, type Choice } from '../facets.js';
import { Lifetime } from '../lifetime.js';
import { pickFacets } from '../pickFacets.js';
import type { Repository } from '../repositories.js';
import type { RunStore } from '../runs/runStore.js';
import { childrenOfTask, recordsOf, taskFacets, taskNodes, type KnownTask, type TaskTreeNode } from './taskTree.js';
import { taskTreeItem } from './taskTreeItem.js';

/** The stored tasks of the window's repositories, read again only where their file changed. */
export class TasksTree implements vscode.TreeDataProvider<TaskTreeNode>, vscode.Disposable {
  private readonly lifetime = new Lifetime('tasks');
  private readonly changed = this.lifetime.add(new vscode.EventEmitter<void>());
  private readonly read = new Map<string, { stamp: string; tasks: Promise<readonly Task[]> }>();
  private choice = noChoice;
  private view?: vscode.TreeView<TaskTreeNode>;

  readonly onDidChangeTreeData = this.changed.event;

  constructor(private readonly store: RunStore) {
    this.lifetime.add(store.onDidChange(() => this.changed.fire()));
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
    const all = await this.tasks();
    const shown = all.filter((known) => fits(taskFacets, this.choice, known));
    setContextKey(ContextKey.HasTasks, all.length > 0);
    if (this.view) {
      const words = choiceInWords(this.choice);
      this.view.message = words === '' ? undefined : `${shown.length} of ${all.length} tasks: ${words}`;
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
  }

  async chooseFilter(): Promise<void> {
    const choice = await pickFacets('Filter tasks', taskFacets, await this.tasks(), this.choice);
    if (choice) this.filter(choice);
  }

  filter(choice: Choice): void {
    this.choice = choice;
    setContextKey(ContextKey.TasksFiltered, choiceInWords(choice) !== '');
    this.changed.fire();
  }

  dispose(): void {
    this.lifetime.dispose();
  }

  private async tasksOf(repository: Repository): Promise<readonly KnownTask[]> {
    const tasks = await this.stored(repository.stateFolder);
    if (tasks.length === 0) return [];
    const records = recordsOf(await this.played(repository));
    return tasks.map((task) => ({
      repository,
      task,
      record: records.get(task.instance_id) ?? { played: 0, solved: 0 },
    }));
  }

  private async stored(stateFolder: string): Promise<readonly Task[]> {
    const summary = await stat(path.join(stateFolder, 'tasks', 'funnel.json')).catch(() => undefined);
    if (!summary) return [];
    const stamp = `${summary.mtimeMs} ${summary.size}`;
    const known = this.read.get(stateFolder);
    if (known?.stamp === stamp) return known.tasks;
    const tasks = import('../engine.js').then(({ readTasks }) => readTasks(stateFolder));
    this.read.set(stateFolder, { stamp, tasks });
    return tasks;
  }

  private async played({ root, stateFolder }: Repository): Promise<readonly TrajectoryHeader[]> {
    const runs = (await this.store.runs()).filter(({ repository }) => repository.root === root);
    const lists = await Promise.all(
      runs.map(async ({ summary }) => (await this.store.reader(stateFolder, summary.id)).headers()),
    );
    return lists.flat();
  }
}
