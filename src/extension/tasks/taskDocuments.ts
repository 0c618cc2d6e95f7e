import path from 'node:path';
import * as vscode from 'vscode';
import { badInput } from '../../trajectory/errors.js';
import type { Task } from '../../trajectory/task.js';
import { Scheme } from '../contributions.js';
import { Lifetime } from '../lifetime.js';
import { lineOf } from '../lineOf.js';
import type { RunStore } from '../runs/runStore.js';
import { t } from '../translate.js';
import { plainLine } from '../plainText.js';
import { visibleText } from '../trajectory/visibleText.js';
import { fromSideQuery, toSideUri, type SideAddress } from './sideAddress.js';

type Changes = readonly { readonly path: string; readonly before: string | null; readonly after: string | null }[];
type PatchAddress = Omit<SideAddress, 'side' | 'file'>;

const kept = 16;

/**
 * Statements of tasks, and the files that their patches (and those of trajectories) change, as read-only documents for
 * the editor and the diff editor. All of it is read from git's objects: nothing is checked out.
 */
export class TaskDocuments implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly lifetime = new Lifetime('task documents');
  /** The latest patches that were shown. */
  private readonly changes = new Map<string, Promise<Changes>>();

  constructor(private readonly store: RunStore) {
    this.lifetime.add(vscode.workspace.registerTextDocumentContentProvider(Scheme.Task, this));
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const address = fromSideQuery(uri.query);
    try {
      if (address.what === 'statement') return plain((await this.task(address)).problem_statement);
      const change = (await this.changesOf(address)).find((candidate) => candidate.path === address.file);
      return plain(change?.[address.side] ?? '');
    } catch (error) {
      throw new Error(lineOf(error), { cause: error });
    }
  }

  async openStatement(root: string, taskId: string): Promise<void> {
    const file = `${taskId.replace(/[\\/]/g, ' ')}.txt`;
    const address = { root, taskId, runId: '', trajectoryId: '', what: 'statement', side: 'after', file } as const;
    await vscode.window.showTextDocument(uriOf(address));
  }

  /** Opens what a patch changes in the diff editor: one file as such, several together. */
  async openPatch(address: PatchAddress, title: string): Promise<void> {
    const files = (await this.changesOf(address)).map((change) => change.path);
    await openSides(
      title,
      files.map((file) => [uriOf({ ...address, side: 'before', file }), uriOf({ ...address, side: 'after', file })]),
    );
  }

  /** Opens the files as a trajectory left them beside those of the oracle. */
  async openPrediction(address: Omit<PatchAddress, 'what'>): Promise<void> {
    const [predicted, oracle] = [
      { ...address, what: 'predicted' },
      { ...address, what: 'oracle' },
    ] as const;
    const [mine, theirs] = await Promise.all([this.changesOf(predicted), this.changesOf(oracle)]);
    const files = [...new Set([...mine, ...theirs].map((change) => change.path))].sort();
    const has = (changes: Changes, file: string) => changes.some((change) => change.path === file);
    await openSides(
      t('{0}: predicted ↔ oracle', address.taskId),
      files.map((file) => [
        // What one of them left alone is as it was before the other's change.
        uriOf(has(mine, file) ? { ...predicted, side: 'after', file } : { ...oracle, side: 'before', file }),
        uriOf(has(theirs, file) ? { ...oracle, side: 'after', file } : { ...predicted, side: 'before', file }),
      ]),
    );
  }

  /** The task as the run kept it, else as it is stored. Throws bad-input where there is none. */
  async task({ root, runId, taskId }: Pick<SideAddress, 'root' | 'runId' | 'taskId'>): Promise<Task> {
    const stateFolder = path.join(root, '.whetstone');
    const { readTasks } = await import('../engine.js');
    const tasks =
      runId === '' ? await readTasks(stateFolder) : await (await this.store.reader(stateFolder, runId)).tasks();
    const task = tasks.find(({ instance_id }) => instance_id === taskId);
    if (!task)
      throw badInput(t('There is no task {0}.', JSON.stringify(taskId)), t('It may have been dropped or built anew.'));
    return task;
  }

  /** Text of a file in the tree that a task starts from; empty where there is none. */
  async startFile(
    { root, runId, taskId }: Pick<SideAddress, 'root' | 'runId' | 'taskId'>,
    file: string,
  ): Promise<string> {
    const { openRepository, startFile } = await import('../engine.js');
    const [repository, task] = await Promise.all([openRepository(root), this.task({ root, runId, taskId })]);
    return (await startFile(repository, task, file)) ?? '';
  }

  dispose(): void {
    this.lifetime.dispose();
  }

  /** What a patch changes, file by file. */
  changesOf(address: PatchAddress): Promise<Changes> {
    const { root, taskId, runId, trajectoryId, what } = address;
    const key = JSON.stringify([root, taskId, runId, trajectoryId, what]);
    const known = this.changes.get(key);
    if (known) return known;
    const reading = this.readChanges(address);
    this.changes.set(key, reading);
    reading.catch(() => this.changes.delete(key));
    const [oldest] = this.changes.keys();
    if (this.changes.size > kept) this.changes.delete(oldest);
    return reading;
  }

  private async readChanges(address: PatchAddress): Promise<Changes> {
    const { root, runId, trajectoryId, what } = address;
    const { changesOfPatch, changesOfTask, openRepository } = await import('../engine.js');
    const [repository, task] = await Promise.all([openRepository(root), this.task(address)]);
    if (what === 'start' || what === 'oracle') return changesOfTask(repository, task, what);
    const reader = await this.store.reader(path.join(root, '.whetstone'), runId);
    return changesOfPatch(repository, task, (await reader.trajectory(trajectoryId)).patch);
  }
}

async function openSides(title: string, sides: readonly (readonly [vscode.Uri, vscode.Uri])[]): Promise<void> {
  if (sides.length === 0) throw badInput(t('Nothing is changed there.'), '');
  if (sides.length === 1) {
    await vscode.commands.executeCommand('vscode.diff', ...sides[0], plainLine(title));
    return;
  }
  await vscode.commands.executeCommand(
    'vscode.changes',
    plainLine(title),
    sides.map(([left, right]) => [right, left, right]),
  );
}

const uriOf = (address: SideAddress) => vscode.Uri.from({ scheme: Scheme.Task, ...toSideUri(address) });

const plain = (text: string) => visibleText(text.replaceAll('\r\n', '\n'));
