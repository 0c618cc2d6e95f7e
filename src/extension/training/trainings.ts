import * as vscode from 'vscode';
import type { TrainingEnd, TrainingHandle } from '../../trainer/background/client.js';
import type { RunSummary } from '../../trainer/run/runRecord.js';
import type { SettingsInput } from '../../trainer/run/settings.js';
import { failed } from '../../trajectory/errors.js';
import { say, type Said } from '../../trajectory/said.js';
import { Command } from '../contributions.js';
import { Lifetime } from '../lifetime.js';
import { notify, showError } from '../messages.js';
import { plainLabel, plainLine } from '../plainText.js';
import { withCancellableProgress, withProgress } from '../progress.js';
import type { Repository } from '../repositories.js';
import type { RunStore } from '../runs/runStore.js';
import type { RunOf } from '../runs/runTree.js';
import { chosenSettings } from './chosenSettings.js';
import { trainingText } from './trainingText.js';
import { ofEngine, t } from '../translate.js';

/** The trainings that this window follows. They live in processes of their own and outlive the window. */
export class Trainings implements vscode.Disposable {
  private readonly lifetime = new Lifetime('trainings');
  private readonly followed = new Map<string, TrainingHandle>();
  /** Attempts to reach the process of a run, by the run's folder. */
  private readonly connecting = new Map<string, Promise<void>>();
  private readonly status: vscode.StatusBarItem;

  constructor(
    private readonly store: RunStore,
    private readonly log: vscode.LogOutputChannel,
  ) {
    this.status = this.lifetime.add(
      vscode.window.createStatusBarItem('whetstone.training', vscode.StatusBarAlignment.Left),
    );
    this.status.name = t('Whetstone Training');
    this.status.command = 'whetstone.runs.focus';
    this.lifetime.add(store.onDidChange(() => void this.reconnect().catch((error) => log.error(String(error)))));
  }

  /**
   * Starts a training, or goes on with a run, in a process that outlives the window; resolves once it runs.
   * @param overrides of the settings, for this training alone
   */
  async start(repository: Repository, resume?: string, overrides: SettingsInput = {}): Promise<void> {
    const { loadTrainingSettings, startTraining } = await import('../engine.js');
    const chosen = { ...chosenSettings(vscode.Uri.file(repository.root)), ...overrides };
    const settings = await loadTrainingSettings(repository.root, chosen);
    const handle = await withCancellableProgress(
      t('Starting training on {0}', repository.name),
      this.lifetime,
      (signal) => startTraining({ repoRoot: repository.root, settings, resume, owner: 'detached' }, signal),
    );
    this.follow(repository, handle);
    this.store.touch(handle.runFolder);
  }

  /** Follows every run whose process lives, also one that was started elsewhere or before the window was reloaded. */
  async reconnect(): Promise<void> {
    const living = (await this.store.runs()).filter(({ summary }) => isAlive(summary));
    await Promise.all(living.map((run) => this.connected(run)));
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

  /** Resolves once the run is followed, or its process does not answer; one attempt at a time. */
  private connected(run: RunOf): Promise<void> {
    const { folder } = run.summary;
    if (this.followed.has(folder)) return Promise.resolve();
    const attempt = this.connecting.get(folder) ?? this.connect(run).finally(() => this.connecting.delete(folder));
    this.connecting.set(folder, attempt);
    return attempt;
  }

  private async connect({ repository, summary }: RunOf): Promise<void> {
    const { connectToRun } = await import('../engine.js');
    const handle = await connectToRun(repository.stateFolder, summary.id);
    if (handle) this.follow(repository, handle);
  }

  private follow(repository: Repository, handle: TrainingHandle): void {
    if (this.followed.has(handle.runFolder)) {
      handle.dispose();
      return;
    }
    this.followed.set(handle.runFolder, handle);
    const lifetime = this.lifetime.child(`run ${handle.runId}`);
    lifetime.add(handle);
    void withProgress(
      t('Training on {0}', repository.name),
      async (report) => {
        let reported = 0;
        const show = async () => {
          const reader = await this.store.reader(repository.stateFolder, handle.runId);
          const [summary, events] = await Promise.all([reader.summary(), reader.events()]);
          if (!this.followed.has(handle.runFolder)) return;
          const text = trainingText(summary, events);
          report(text.message, Math.max(0, text.percent - reported));
          reported = Math.max(reported, text.percent);
          this.status.text = `$(flame) Whetstone: ${plainLabel(text.status)}`;
          this.status.tooltip = plainLine(t('Whetstone trains on {0}: {1}', repository.name, text.message));
          this.status.accessibilityInformation = { label: this.status.tooltip };
          this.status.show();
        };
        const showSafely = () => void show().catch((error: unknown) => this.log.error(String(error)));
        lifetime.add(
          handle.onChanged(() => {
            showSafely();
            this.store.touch(handle.runFolder);
          }),
        );
        showSafely();
        const end = await handle.exited;
        this.followed.delete(handle.runFolder);
        if (this.followed.size === 0) this.status.hide();
        lifetime.dispose();
        this.store.touch(handle.runFolder);
        this.report(repository, handle, end);
      },
      () => handle.stop(),
    );
  }

  private report(repository: Repository, { runId }: TrainingHandle, end: TrainingEnd): void {
    // Only the connection is gone; the run is found again as one that lives.
    if (isAlive(end)) return;
    const run = [repository.stateFolder, runId] as const;
    const showLog = { title: t('Show Log'), run: () => vscode.commands.executeCommand(Command.ShowLog, ...run) };
    const resume = {
      title: t('Resume'),
      run: () => this.start(repository, runId).catch((e) => showError(e, this.log)),
    };
    if (end.status === 'failed' || end.status === 'interrupted') {
      showError(failed(endWords(repository.name, end), ''), this.log, [showLog, resume]);
      return;
    }
    const show = { title: t('Show Runs'), run: () => vscode.commands.executeCommand('whetstone.runs.focus') };
    const actions = end.status === 'stopped' ? [show, resume] : [show];
    notify(ofEngine(endWords(repository.name, end)), actions);
  }
}

/** How a training ended, in words: in English for the log. */
function endWords(name: string, end: TrainingEnd): Said {
  const words = {
    failed: say`Training on ${name} failed.`,
    interrupted: say`Training on ${name} interrupted.`,
    stopped: say`Training on ${name} stopped.`,
    completed: say`Training on ${name} completed.`,
    running: say`Training on ${name}`,
    paused: say`Training on ${name}`,
  }[end.status];
  return end.message === '' ? words : say`${words} ${end}`;
}

export const isAlive = ({ status }: Pick<RunSummary, 'status'>) => status === 'running' || status === 'paused';
