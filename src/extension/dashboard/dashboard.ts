import * as vscode from 'vscode';
import { PanelType } from '../contributions.js';
import { Lifetime } from '../lifetime.js';
import { showError } from '../messages.js';
import { loadPage, pageOptions } from '../pages/page.js';
import { isTranslate, type Translate } from '../pages/translations.js';
import { revealTrajectory } from '../revealTrajectory.js';
import { outcomeOf, shortTime, statusWord } from '../runs/runTreeItem.js';
import type { RunStore } from '../runs/runStore.js';
import type { RunOf } from '../runs/runTree.js';
import type { TrajectoryDocuments } from '../trajectory/trajectoryDocuments.js';
import type { FromDashboard, ToDashboard } from './dashboardMessages.js';
import { seriesOf, type RunSeries } from './runSeries.js';
import { t } from '../translate.js';

const settleMilliseconds = 500;

interface DashboardContext {
  readonly store: RunStore;
  readonly trajectories: TrajectoryDocuments;
  readonly log: vscode.LogOutputChannel;
}

/** The one panel with the charts of the runs. It reads a run's events anew only where there are more of them. */
export class Dashboard implements vscode.Disposable {
  private readonly lifetime = new Lifetime('dashboard');
  private panel?: vscode.WebviewPanel;
  private opened = this.lifetime.child('panel');
  /** Runs that are drawn, by their folder; undefined until the user chose: then the newest is. */
  private shown?: ReadonlySet<string>;
  private readonly known = new Map<string, { events: number; series: RunSeries }>();
  private settling?: NodeJS.Timeout;

  constructor(
    private readonly context: DashboardContext,
    private readonly extensionUri: vscode.Uri,
  ) {
    this.lifetime.add({ dispose: () => clearTimeout(this.settling) });
    this.lifetime.add(
      vscode.window.registerWebviewPanelSerializer(PanelType.Dashboard, {
        deserializeWebviewPanel: (panel) => Promise.resolve(this.adopt(panel)),
      }),
    );
  }

  /** Shows the panel, with this run among those that are drawn. */
  show(run?: RunOf): void {
    if (run) this.shown = new Set([...(this.shown ?? []), run.summary.folder]);
    if (this.panel) {
      this.panel.reveal();
      this.sendSoon();
      return;
    }
    const options = { ...pageOptions(this.extensionUri), enableFindWidget: true };
    this.adopt(
      vscode.window.createWebviewPanel(
        PanelType.Dashboard,
        t('Whetstone Dashboard'),
        vscode.ViewColumn.Active,
        options,
      ),
    );
  }

  dispose(): void {
    this.lifetime.dispose();
  }

  private adopt(panel: vscode.WebviewPanel): void {
    this.opened.dispose();
    this.opened = this.lifetime.child('panel');
    this.panel = this.opened.add(panel);
    panel.webview.options = pageOptions(this.extensionUri);
    this.opened.add(panel.webview.onDidReceiveMessage((message: FromDashboard | Translate) => this.receive(message)));
    this.opened.add(this.context.store.onDidChange(() => this.sendSoon()));
    this.opened.add(
      panel.onDidDispose(() => {
        this.panel = undefined;
        this.opened.dispose();
      }),
    );
    this.opened.add(loadPage(panel.webview, this.extensionUri, 'dashboard', t('Whetstone Dashboard')));
  }

  private receive(message: FromDashboard | Translate): void {
    if (isTranslate(message)) return;
    void this.answer(message).catch((error: unknown) => showError(error, this.context.log));
  }

  private async answer(message: FromDashboard): Promise<void> {
    switch (message.type) {
      case 'ready':
        return this.send();
      case 'show':
        this.shown = new Set(message.keys);
        return this.send();
      case 'point':
        return this.sendTrajectories(message);
      case 'open': {
        const { repository, summary } = await this.run(message.key);
        const { trajectoryId } = message;
        const address = { stateFolder: repository.stateFolder, runId: summary.id, trajectoryId };
        return revealTrajectory(this.context.trajectories, address, undefined, {
          viewColumn: vscode.ViewColumn.Beside,
        });
      }
    }
  }

  /** Many changes in a row are one message; a panel that nobody sees gets none. */
  private sendSoon(): void {
    this.settling ??= setTimeout(() => {
      this.settling = undefined;
      if (this.panel?.visible) void this.send().catch((error: unknown) => this.context.log.error(String(error)));
    }, settleMilliseconds);
  }

  private async send(): Promise<void> {
    const runs = await this.context.store.runs();
    // What people demonstrated is no training, and has nothing to draw.
    const newest = runs.find(({ summary }) => summary.steps > 0) ?? runs[0];
    const isShown = (run: RunOf) => this.shown?.has(run.summary.folder) ?? run === newest;
    const labels = runs.map((run) => labelOf(run, runs));
    const series = await Promise.all(
      runs.flatMap((run, index) => (isShown(run) ? [this.series(run, labels[index])] : [])),
    );
    const choices = runs.map((run, index) => ({
      key: run.summary.folder,
      label: labels[index],
      isShown: isShown(run),
    }));
    this.post({ type: 'runs', runs: choices, series });
  }

  private async series({ repository, summary }: RunOf, label: string): Promise<RunSeries> {
    const events = await (await this.context.store.reader(repository.stateFolder, summary.id)).events();
    const known = this.known.get(summary.folder);
    if (known?.events === events.length && known.series.label === label) return known.series;
    const series = seriesOf(summary.folder, label, events);
    this.known.set(summary.folder, { events: events.length, series });
    return series;
  }

  private async sendTrajectories({ key, step, kind }: Extract<FromDashboard, { type: 'point' }>): Promise<void> {
    const { repository, summary } = await this.run(key);
    const reader = await this.context.store.reader(repository.stateFolder, summary.id);
    const headers = await reader.headers((header) => header.step === step && header.kind === kind);
    const trajectories = headers.map((header) => ({
      id: header.id,
      taskId: header.taskId,
      outcome: outcomeOf(header).word,
      reward: header.reward,
    }));
    const phase = kind === 'evaluation' ? t('Evaluation after step {0}', step) : t('Step {0}', step);
    const title = `${phase} · ${shortTime(summary.createdAt)}`;
    this.post({ type: 'trajectories', key, title, trajectories });
  }

  private async run(folder: string): Promise<RunOf> {
    const run = (await this.context.store.runs()).find(({ summary }) => summary.folder === folder);
    if (!run) throw new Error(t('The run is gone.'));
    return run;
  }

  private post(message: ToDashboard): void {
    void this.panel?.webview.postMessage(message);
  }
}

/** A run's time, with what tells it apart from the others. */
function labelOf({ repository, summary }: RunOf, runs: readonly RunOf[]): string {
  const several = runs.some((other) => other.repository.root !== repository.root);
  return [shortTime(summary.createdAt), statusWord(summary.status), several ? repository.name : '']
    .filter(Boolean)
    .join(' · ');
}
