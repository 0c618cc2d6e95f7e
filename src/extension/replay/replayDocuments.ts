import * as vscode from 'vscode';
import { Scheme } from '../contributions.js';
import { Lifetime } from '../lifetime.js';
import type { Replay } from './replayProcess.js';
import { replayText } from './replayText.js';
import { visibleText } from '../trajectory/visibleText.js';
import { t } from '../translate.js';

type Side = 'recorded' | 'observed';
type Time = 'before' | 'after';

interface Kept {
  readonly replay: Replay;
  readonly text: string;
  /** Line of each diverging turn. */
  readonly diverging: ReadonlyMap<number, number>;
}

/**
 * Results of replays as read-only documents, with both sides of a diverging turn, and of every file that the turns
 * changed, for the diff editor. The texts live here alone: no worktree is left for them.
 */
export class ReplayDocuments implements vscode.TextDocumentContentProvider, vscode.CodeLensProvider, vscode.Disposable {
  private readonly lifetime = new Lifetime('replay documents');
  private readonly kept = new Map<string, Kept>();
  private next = 1;

  constructor() {
    this.lifetime.add(vscode.workspace.registerTextDocumentContentProvider(Scheme.Replay, this));
    this.lifetime.add(vscode.languages.registerCodeLensProvider({ scheme: Scheme.Replay }, this));
    this.lifetime.add(
      vscode.workspace.onDidCloseTextDocument(({ uri }) => {
        if (uri.scheme === Scheme.Replay) this.kept.delete(uri.query);
      }),
    );
  }

  /** Keeps a replay and returns the address of its document. */
  add(title: string, replay: Replay): vscode.Uri {
    const key = String(this.next++);
    this.kept.set(key, { replay, ...replayText(title, replay) });
    return vscode.Uri.from({ scheme: Scheme.Replay, path: `/${t('Replay {0}', key)}.replay`, query: key });
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    const [key, kind, which, side] = uri.query.split('/');
    const kept = this.kept.get(key);
    if (!kept) return t('This replay is gone. Run `Whetstone: Replay Trajectory` again.');
    const { turns, changes } = kept.replay;
    if (kind === 'turn') {
      return visibleText(turns.find(({ turn }) => turn === Number(which))?.[side as Side].join('\n') ?? '');
    }
    if (kind === 'file') return visibleText(changes.at(Number(which))?.[side as Time] ?? '');
    return kept.text;
  }

  provideCodeLenses({ uri }: vscode.TextDocument): vscode.CodeLens[] {
    const kept = this.kept.get(uri.query);
    if (!kept) return [];
    const at = (line: number) => new vscode.Range(line, 0, line, 0);
    const { turns, changes } = kept.replay;
    const lenses = [...kept.diverging].map(
      ([turn, line]) =>
        new vscode.CodeLens(at(line), {
          title: `$(diff) ${t('Compare with the record')}`,
          command: 'vscode.diff',
          arguments: this.comparison(uri, turn),
        }),
    );
    const files =
      changes.length === 1 ? t('1 file') : changes.length === 0 ? t('No files') : t('{0} files', changes.length);
    const changed = {
      title: `$(diff-multiple) ${t('{0} changed by the end of turn {1}', files, turns.at(-1)?.turn ?? 0)}`,
      command: changes.length === 0 ? '' : 'vscode.changes',
      arguments: this.changedFiles(uri),
    };
    return [new vscode.CodeLens(at(0), changed), ...lenses];
  }

  /** Arguments of `vscode.diff` for a turn: recorded on the left, observed on the right. */
  comparison(replay: vscode.Uri, turn: number): [vscode.Uri, vscode.Uri, string] {
    const side = (name: Side) =>
      replay.with({ path: `/turn ${turn} ${name}.replay`, query: `${replay.query}/turn/${turn}/${name}` });
    return [side('recorded'), side('observed'), t('Turn {0}: recorded ↔ replayed', turn)];
  }

  /** Arguments of `vscode.changes` for the files as they are after the last played turn, against the task's tree. */
  changedFiles(replay: vscode.Uri): [string, [vscode.Uri, vscode.Uri, vscode.Uri][]] {
    const { turns, changes } = this.kept.get(replay.query)?.replay ?? { turns: [], changes: [] };
    const files = changes.map(({ path }, index): [vscode.Uri, vscode.Uri, vscode.Uri] => {
      // Named as the file is, so that its language is known.
      const side = (time: Time) => replay.with({ path: `/${path}`, query: `${replay.query}/file/${index}/${time}` });
      return [side('after'), side('before'), side('after')];
    });
    return [t('Files changed by the end of turn {0}', turns.at(-1)?.turn ?? 0), files];
  }

  /** Turns whose observation was not the recorded one. */
  diverging(replay: vscode.Uri): readonly number[] {
    return [...(this.kept.get(replay.query)?.diverging.keys() ?? [])];
  }

  dispose(): void {
    this.lifetime.dispose();
  }
}
