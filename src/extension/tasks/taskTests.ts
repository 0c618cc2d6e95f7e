import path from 'node:path';
import * as vscode from 'vscode';
import { WhetstoneError } from '../../trajectory/errors.js';
import type { Task } from '../../trajectory/task.js';
import { requireTrust } from '../commandTargets.js';
import { Lifetime } from '../lifetime.js';
import { lineOf } from '../lineOf.js';
import { showError } from '../messages.js';
import { pickOne } from '../quickPick.js';
import type { RunStore } from '../runs/runStore.js';
import { t } from '../translate.js';
import { plainLabel } from '../plainText.js';
import { visibleText } from '../trajectory/visibleText.js';
import type { TestedTask } from './taskOutputs.js';
import type { TasksTree } from './tasksView.js';
import { kindOfTask, type KnownTask } from './taskTree.js';
import { terminalText } from './terminalText.js';
import { testArguments } from './testArguments.js';

interface TestsContext {
  readonly log: vscode.LogOutputChannel;
  readonly store: RunStore;
  readonly tasks: TasksTree;
  /** The bundled command line. */
  readonly cli: string;
}

/** What an item of the Testing view stands for. */
type Meaning =
  | { readonly kind: 'task'; readonly known: KnownTask }
  | { readonly kind: 'list'; readonly known: KnownTask }
  | { readonly kind: 'test'; readonly known: KnownTask; readonly test: string };

type Tree = 'start' | 'oracle' | 'current';
const trees: readonly { readonly tree: Tree; readonly title: () => string; readonly detail: () => string }[] = [
  { tree: 'start', title: () => t('In the Start Tree'), detail: () => t('What every episode begins with') },
  { tree: 'oracle', title: () => t('With the Oracle'), detail: () => t('Every test must pass') },
  { tree: 'current', title: () => t('In a Copy of Your Files'), detail: () => t('As they lie on the disk') },
];

/**
 * The tests of tasks in the editor's Testing view: task > FAIL_TO_PASS and PASS_TO_PASS > test. A run goes through the
 * command line, task by task, in a fresh worktree; cancelling it ends the process, which takes its worktree with it.
 */
export class TaskTests implements vscode.Disposable {
  private readonly lifetime = new Lifetime('tests of tasks');
  private readonly controller = this.lifetime.add(vscode.tests.createTestController('whetstone.tasks', 'Whetstone'));
  private readonly meanings = new WeakMap<vscode.TestItem, Meaning>();
  /** Whether someone has looked, so that there is something to keep up to date. */
  private isLoaded = false;

  constructor(private readonly context: TestsContext) {
    const { tasks, log } = context;
    this.controller.resolveHandler = (item) => (item ? this.unfold(item) : this.load());
    this.controller.refreshHandler = () => tasks.refresh();
    for (const { tree, title } of trees) {
      const run = (request: vscode.TestRunRequest) => this.run(request, tree);
      this.controller.createRunProfile(title(), vscode.TestRunProfileKind.Run, run, tree === 'start');
    }
    const update = () => {
      if (this.isLoaded) void this.load().catch((error: unknown) => log.error(String(error)));
    };
    this.lifetime.add(tasks.onDidChangeTreeData(update));
  }

  /** Runs tests of a task, all where none are named, in the tree that the user chooses. */
  async runOf(known: KnownTask, tests?: readonly string[]): Promise<void> {
    const items = trees.map(({ tree, title, detail }) => ({ label: title(), description: detail(), tree }));
    const title = t('Run the tests of {0}', known.task.instance_id);
    const chosen = await pickOne(items, { title });
    if (!chosen) return;
    await vscode.commands.executeCommand('workbench.panel.testResults.view.focus');
    await this.runIn(chosen.tree, known, tests);
  }

  /** Runs them without asking. */
  async runIn(tree: Tree, known: KnownTask, tests?: readonly string[]): Promise<void> {
    await this.load();
    const item = this.controller.items.get(idOf(known));
    if (!item) return;
    const wanted = tests && new Set(tests);
    const include = wanted
      ? this.testsIn(item)
          .filter(({ test }) => wanted.has(test))
          .map((one) => one.item)
      : [item];
    await this.run(new vscode.TestRunRequest(include), tree);
  }

  /** Items of the view, for tests. */
  get items(): vscode.TestItemCollection {
    return this.controller.items;
  }

  /** Lists the tasks; items of tasks that are as they were stay, and with them their results. */
  async load(): Promise<void> {
    this.isLoaded = true;
    const [tasks, repositories] = [await this.context.tasks.tasks(), await this.context.store.repositories()];
    const items = tasks.map((known) => {
      const present = this.controller.items.get(idOf(known));
      const meaning = present && this.meanings.get(present);
      const item = present && meaning && hasSameTests(meaning.known, known) ? present : this.taskItem(known);
      this.meanings.set(item, { kind: 'task', known });
      const parts = [
        known.exclusion ? t('excluded') : '',
        kindOfTask(known.task),
        known.task.whetstone.split,
        repositories.length > 1 ? known.repository.name : '',
      ];
      item.description = visibleText(parts.filter(Boolean).join(' · '));
      return item;
    });
    this.controller.items.replace(items);
  }

  dispose(): void {
    this.lifetime.dispose();
  }

  private taskItem(known: KnownTask): vscode.TestItem {
    const item = this.controller.createTestItem(idOf(known), plainLabel(known.task.instance_id));
    item.canResolveChildren = true;
    return item;
  }

  private unfold(item: vscode.TestItem): void {
    const meaning = this.meanings.get(item);
    if (meaning?.kind !== 'task' || item.children.size > 0) return;
    const { known } = meaning;
    for (const list of ['FAIL_TO_PASS', 'PASS_TO_PASS'] as const) {
      if (known.task[list].length === 0) continue;
      const listItem = this.controller.createTestItem(list, list);
      this.meanings.set(listItem, { kind: 'list', known });
      listItem.children.replace(
        known.task[list].map((test) => {
          const testItem = this.controller.createTestItem(test, plainLabel(test), fileOf(known, test));
          this.meanings.set(testItem, { kind: 'test', known, test });
          return testItem;
        }),
      );
      item.children.add(listItem);
    }
  }

  /** The tests at and below an item. */
  private testsIn(item: vscode.TestItem): readonly { item: vscode.TestItem; known: KnownTask; test: string }[] {
    const meaning = this.meanings.get(item);
    if (meaning?.kind === 'test') return [{ item, known: meaning.known, test: meaning.test }];
    this.unfold(item);
    return [...item.children].flatMap(([, child]) => this.testsIn(child));
  }

  private async run(request: vscode.TestRunRequest, tree: Tree): Promise<void> {
    try {
      requireTrust();
    } catch (error) {
      return showError(error, this.context.log);
    }
    const left = new Set((request.exclude ?? []).flatMap((item) => this.testsIn(item)).map(({ item }) => item));
    // Who asks for everything does not mean what they left out.
    const included =
      request.include ??
      [...this.controller.items].map(([, item]) => item).filter((item) => !this.meanings.get(item)?.known.exclusion);
    const byTask = new Map<string, { known: KnownTask; items: Map<string, vscode.TestItem> }>();
    for (const { item, known, test } of included.flatMap((one) => this.testsIn(one))) {
      if (left.has(item)) continue;
      const group = byTask.get(idOf(known)) ?? { known, items: new Map<string, vscode.TestItem>() };
      byTask.set(idOf(known), group);
      group.items.set(test, item);
    }
    const run = this.controller.createTestRun(request, trees.find((one) => one.tree === tree)?.title());
    const cancel = new AbortController();
    const own = this.lifetime.child('run of tests');
    own.add({ dispose: () => cancel.abort() });
    own.add(run.token.onCancellationRequested(() => cancel.abort()));
    try {
      for (const { items } of byTask.values()) for (const item of items.values()) run.enqueued(item);
      for (const { known, items } of byTask.values()) {
        if (cancel.signal.aborted) break;
        await this.runTask(run, tree, known, items, cancel.signal);
      }
    } finally {
      run.end();
      own.dispose();
    }
  }

  private async runTask(
    run: vscode.TestRun,
    tree: Tree,
    { repository, task }: KnownTask,
    items: ReadonlyMap<string, vscode.TestItem>,
    signal: AbortSignal,
  ): Promise<void> {
    for (const item of items.values()) run.started(item);
    const say = (text: string, item?: vscode.TestItem) =>
      run.appendOutput(`${terminalText(text)}\r\n`, undefined, item);
    const title = trees.find((one) => one.tree === tree)?.title() ?? tree;
    say(`── ${task.instance_id} · ${title} ──`);
    try {
      const { runCli, testedTaskSchema } = await import('../engine.js');
      const args = testArguments({
        repoRoot: repository.root,
        taskId: task.instance_id,
        tree,
        tests: [...items.keys()],
        all: task.FAIL_TO_PASS.length + task.PASS_TO_PASS.length,
      });
      const request = { cli: this.context.cli, repoRoot: repository.root, args };
      const tested = await runCli(request, testedTaskSchema, signal);
      say(tested.output.trimEnd());
      for (const result of tested.tests) {
        const item = items.get(result.id);
        if (item) tell(run, item, result, tested, say);
      }
    } catch (error) {
      const isCancelled = error instanceof WhetstoneError && error.kind === 'cancelled';
      for (const item of items.values()) {
        if (isCancelled) run.skipped(item);
        else run.errored(item, new vscode.TestMessage(visibleText(lineOf(error))));
      }
      say(lineOf(error));
    }
  }
}

function tell(
  run: vscode.TestRun,
  item: vscode.TestItem,
  { status, message, isAsItMustBe }: TestedTask['tests'][number],
  { outcome }: TestedTask,
  say: (text: string, item: vscode.TestItem) => void,
): void {
  if (message !== '') say(message, item);
  if (status !== 'passed' && isAsItMustBe) say(t('As the task says: it does not pass in this tree.'), item);
  const why = message === '' ? t('The test failed and said nothing.') : visibleText(message);
  switch (status) {
    case 'passed':
      return run.passed(item);
    case 'failed':
      return run.failed(item, new vscode.TestMessage(why));
    case 'skipped':
      return run.skipped(item);
    case 'missing':
      return run.errored(
        item,
        new vscode.TestMessage(t('The run gave no result of this test (the run of the tests: {0}).', outcome)),
      );
  }
}

function hasSameTests({ task: a }: KnownTask, { task: b }: KnownTask): boolean {
  const testsOf = ({ FAIL_TO_PASS, PASS_TO_PASS, whetstone: { test_files } }: Task) =>
    JSON.stringify([FAIL_TO_PASS, PASS_TO_PASS, test_files]);
  return a === b || testsOf(a) === testsOf(b);
}

const idOf = ({ repository, task }: KnownTask) => JSON.stringify([repository.root, task.instance_id]);

/** The file that a test's id begins with, as it lies in the user's tree. */
function fileOf({ repository, task }: KnownTask, test: string): vscode.Uri | undefined {
  const file = task.whetstone.test_files.find((candidate) => test.startsWith(`${candidate} > `));
  return file === undefined ? undefined : vscode.Uri.file(path.join(repository.root, file));
}
