import * as vscode from 'vscode';
import { Scheme } from '../contributions.js';
import { Lifetime } from '../lifetime.js';
import type { Replay } from './replayProcess.js';
import { replayText } from './replayText.js';
import { visibleText } from '../trajectory/visibleText.js';

type Side = 'recorded' | 'observed';

interface Kept {
  readonly replay: Replay;
  readonly text: string;
  /** Line of each diverging turn. */
  readonly diverging: ReadonlyMap<number, number>;
}

/** Results of replays as read-only documents, with both sides of a diverging turn for the diff editor. */
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
    return vscode.Uri.from({ scheme: Scheme.Replay, path: `/Replay ${key}.replay`, query: key });
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    const [key, turn, side] = uri.query.split('/');
    const kept = this.kept.get(key);
    if (!kept) return 'This replay is gone. Run `Whetstone: Replay Trajectory` again.';
    if (turn === undefined) return kept.text;
    const replayed = kept.replay.turns.find((candidate) => candidate.turn === Number(turn));
    return visibleText(replayed?.[side as Side].join('\n') ?? '');
  }

  provideCodeLenses({ uri }: vscode.TextDocument): vscode.CodeLens[] {
    const diverging = this.kept.get(uri.query)?.diverging ?? new Map<number, number>();
    return [...diverging].map(
      ([turn, line]) =>
        new vscode.CodeLens(new vscode.Range(line, 0, line, 0), {
          title: '$(diff) Compare with the record',
          command: 'vscode.diff',
          arguments: this.comparison(uri, turn),
        }),
    );
  }

  /** Arguments of `vscode.diff` for a turn: recorded on the left, observed on the right. */
  comparison(replay: vscode.Uri, turn: number): [vscode.Uri, vscode.Uri, string] {
    const side = (name: Side) =>
      replay.with({ path: `/turn ${turn} ${name}.replay`, query: `${replay.query}/${turn}/${name}` });
    return [side('recorded'), side('observed'), `Turn ${turn}: recorded ↔ replayed`];
  }

  /** Turns whose observation was not the recorded one. */
  diverging(replay: vscode.Uri): readonly number[] {
    return [...(this.kept.get(replay.query)?.diverging.keys() ?? [])];
  }

  dispose(): void {
    this.lifetime.dispose();
  }
}
