import * as vscode from 'vscode';
import { connectToRun, startTraining, type TrainingEnd, type TrainingHandle } from '../../trainer/background/client.js';
import type { RunSummary } from '../../trainer/run/runRecord.js';
import { loadSettings } from '../../trainer/run/settings.js';
import { Command } from '../contributions.js';
import { Lifetime } from '../lifetime.js';
import { answer, showError } from '../messages.js';
import type { Repository } from '../repositories.js';
import type { RunStore } from '../runs/runStore.js';
import type { RunOf } from '../runs/runTree.js';
import { chosenSettings } from './chosenSettings.js';
import { trainingText } from './trainingText.js';

/** The trainings that this window follows. They live in processes of their own and outlive the window. */
export class Trainings implements vscode.Disposable {
  private readonly lifetime = new Lifetime('trainings');
  private readonly followed = new Map<string, TrainingHandle>();
  private readonly status: vscode.StatusBarItem;

  constructor(
    private readonly store: RunStore,
    private readonly log: vscode.LogOutputChannel,
  ) {
    this.status = this.lifetime.add(
      vscode.window.createStatusBarItem('whetstone.training', vscode.StatusBarAlignment.Left),
    );
    this.status.name = 'Whetstone Training';
    this.status.command = 'whetstone.runs.focus';
    this.lifetime.add(store.onDidChange(() => void this.reconnect()));
  }

  /** Starts a training, or goes on with a run, in a process that outlives the window; resolves once it runs. */
  async start(repository: Repository, resume?: string): Promise<void> {
    const settings = await loadSettings(repository.root, chosenSettings(vscode.Uri.file(repository.root)));
    const handle = await vscode.window.withProgress(
      {
        location: vscode.ProgressLocation.Notification,
        title: `Starting training on ${repository.name}`,
        cancellable: true,
      },
      (_, token) => {
        const cancel = new AbortController();
        token.onCancellationRequested(() => cancel.abort());
        return startTraining({ repoRoot: repository.root, settings, resume, owner: 'detached' }, cancel.signal);
      },
    );
    this.follow(repository, handle);
    this.store.touch();
  }

  /** Follows every run whose process lives, also one that was started elsewhere or before the window was reloaded. */
  async reconnect(): Promise<void> {
    const living = (await this.store.runs()).filter(({ summary }) => isAlive(summary));
    for (const { repository, summary } of living) {
      if (this.followed.has(summary.folder)) continue;
      const handle = await connectToRun(repository.stateFolder, summary.id);
      if (handle) this.follow(repository, handle);
    }
  }

  /** The process of a run, connecting where that has not happened yet; undefined where it does not live. */
  async handle(run: RunOf): Promise<TrainingHandle | undefined> {
    await this.reconnect();
    return this.followed.get(run.summary.folder);
  }

  get following(): ReadonlyMap<string, TrainingHandle> {
    return this.followed;
  }

  /** What the status bar says; empty where no training is followed. */
  get statusText(): string {
    return this.followed.size === 0 ? '' : this.status.text;
  }

  dispose(): void {
    this.lifetime.dispose();
  }

  private follow(repository: Repository, handle: TrainingHandle): void {
    if (this.followed.has(handle.runFolder)) {
      handle.dispose();
      return;
    }
    this.followed.set(handle.runFolder, handle);
    const lifetime = this.lifetime.add(new Lifetime(`run ${handle.runId}`));
    lifetime.add(handle);
    void vscode.window.withProgress(
      { location: vscode.ProgressLocation.Notification, title: `Training on ${repository.name}`, cancellable: true },
      async (progress, token) => {
        lifetime.add(token.onCancellationRequested(() => handle.stop()));
        let reported = 0;
        const show = async () => {
          const reader = this.store.reader(repository.stateFolder, handle.runId);
          const [summary, events] = await Promise.all([reader.summary(), reader.events()]);
          if (!this.followed.has(handle.runFolder)) return;
          const text = trainingText(summary, events);
          progress.report({ message: text.message, increment: Math.max(0, text.percent - reported) });
          reported = Math.max(reported, text.percent);
          this.status.text = `$(flame) Whetstone: ${text.status}`;
          this.status.tooltip = `Whetstone trains on ${repository.name}: ${text.message}`;
          this.status.accessibilityInformation = { label: this.status.tooltip };
          this.status.show();
        };
        const showSafely = () => void show().catch((error: unknown) => this.log.error(String(error)));
        lifetime.add(
          handle.onChanged(() => {
            showSafely();
            this.store.touch();
          }),
        );
        showSafely();
        const end = await handle.exited;
        this.followed.delete(handle.runFolder);
        if (this.followed.size === 0) this.status.hide();
        lifetime.dispose();
        this.store.touch();
        this.report(repository, handle, end);
      },
    );
  }

  private report(repository: Repository, { runId }: TrainingHandle, end: TrainingEnd): void {
    const run = [repository.stateFolder, runId] as const;
    const showLog = { title: 'Show Log', run: () => vscode.commands.executeCommand(Command.ShowLog, ...run) };
    const resume = { title: 'Resume', run: () => this.start(repository, runId).catch((e) => showError(e, this.log)) };
    if (end.status === 'failed' || end.status === 'interrupted') {
      showError(`Training on ${repository.name} ${end.status}. ${end.message}`.trim(), this.log, [showLog, resume]);
      return;
    }
    const show = { title: 'Show Runs', run: () => vscode.commands.executeCommand('whetstone.runs.focus') };
    const actions = end.status === 'stopped' ? [show, resume] : [show];
    const text = `Training on ${repository.name} ${end.status}. ${end.message}`.trim();
    void answer(vscode.window.showInformationMessage(`Whetstone: ${text}`, ...actions.map((a) => a.title)), actions);
  }
}

export const isAlive = ({ status }: RunSummary) => status === 'running' || status === 'paused';
