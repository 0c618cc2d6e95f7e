import path from 'node:path';
import * as vscode from 'vscode';
import { Scheme } from '../contributions.js';
import { Lifetime } from '../lifetime.js';
import { agrees, notify } from '../messages.js';
import { withCancellableProgress, withProgress } from '../progress.js';
import { revealTrajectory } from '../revealTrajectory.js';
import type { RunStore } from '../runs/runStore.js';
import type { TrajectoryDocuments } from '../trajectory/trajectoryDocuments.js';
import { t } from '../translate.js';
import { askAction } from './askAction.js';
import { LongTexts } from './longText.js';
import type { EpisodeEnd, PersonEpisode, ShownMessage, TakeOverPoint } from './personEpisode.js';
import { endInWords, transcriptOf } from './transcript.js';

interface TakeOverContext {
  readonly lifetime: Lifetime;
  readonly store: RunStore;
  readonly trajectories: TrajectoryDocuments;
  /** The bundled command line. */
  readonly cli: string;
}

/** Episodes that the user plays by hand: what was said so far is a document that grows, each turn is asked for in boxes. */
export class TakeOvers implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly lifetime = new Lifetime('episodes by hand');
  private readonly changed = this.lifetime.add(new vscode.EventEmitter<vscode.Uri>());
  private readonly texts = new Map<string, string>();
  private next = 1;
  readonly longTexts = this.lifetime.add(new LongTexts());
  readonly onDidChange = this.changed.event;

  constructor(private readonly context: TakeOverContext) {
    this.lifetime.add(vscode.workspace.registerTextDocumentContentProvider(Scheme.Episode, this));
    this.lifetime.add(
      vscode.workspace.onDidCloseTextDocument(({ uri }) => {
        if (uri.scheme === Scheme.Episode) this.texts.delete(uri.query);
      }),
    );
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.query) ?? t('This episode is over.');
  }

  /** Plays one episode to its end, or until the user gives it up. */
  async play(repoRoot: string, point: TakeOverPoint, title: string): Promise<void> {
    const { cli, lifetime } = this.context;
    const { openPersonEpisode } = await import('../engine.js');
    const episode = await withCancellableProgress(t('Opening a fresh worktree for {0}', title), lifetime, (signal) =>
      openPersonEpisode({ cli, repoRoot }, point, signal),
    );
    const own = this.lifetime.child(title);
    own.add({ dispose: () => void episode.close() });
    try {
      const end = await this.playTurns(episode);
      if (end) this.tell(repoRoot, end);
    } finally {
      await episode.close();
      own.dispose();
    }
  }

  dispose(): void {
    this.lifetime.dispose();
  }

  private async playTurns(episode: PersonEpisode): Promise<EpisodeEnd | undefined> {
    const { opened } = episode;
    const key = String(this.next++);
    const uri = vscode.Uri.from({ scheme: Scheme.Episode, path: `/${t('Episode')} ${key}.replay`, query: key });
    const messages: ShownMessage[] = opened.messages.filter(({ role }) => role === 'assistant' || role === 'tool');
    const show = async (end: EpisodeEnd | null) => {
      this.texts.set(key, transcriptOf(opened.task, opened.statement, messages, end));
      this.changed.fire(uri);
      const editor = await vscode.window.showTextDocument(uri, { preview: false, preserveFocus: true });
      const last = editor.document.lineAt(editor.document.lineCount - 1).range;
      editor.revealRange(last);
    };
    await show(null);
    for (;;) {
      const turn = 1 + messages.filter(({ role }) => role === 'assistant').length;
      const action = await askAction(opened.tools, turn, this.longTexts);
      if (!action) {
        if (await isGivenUp()) return undefined;
        continue;
      }
      const { tool, parameters, thought } = action;
      const { observations, end } = await withProgress(t('Turn {0}: {1}', turn, tool), () =>
        episode.act(tool, parameters, thought),
      );
      const call = { name: tool, arguments: parameters };
      messages.push({ role: 'assistant', thought, calls: [call], content: '' }, ...observations);
      await show(end);
      if (end) return end;
    }
  }

  private tell(repoRoot: string, end: EpisodeEnd): void {
    this.context.store.refresh();
    const { run, trajectory } = end;
    if (run === null || trajectory === null) {
      notify(endInWords(end), [], 'error');
      return;
    }
    const address = { stateFolder: path.join(repoRoot, '.whetstone'), runId: run, trajectoryId: trajectory };
    const open = {
      title: t('Open Trajectory'),
      run: () => revealTrajectory(this.context.trajectories, address),
    };
    const kept = t('It was kept as a demonstration.');
    notify(`${endInWords(end)} ${kept}`, [open]);
  }
}

const isGivenUp = (): Promise<boolean> => agrees(t('Give this episode up? Nothing of it is kept.'), t('Give Up'));
