import path from 'node:path';
import * as vscode from 'vscode';
import { badInput } from '../../trajectory/errors.js';
import { Colour, ContextKey } from '../contributions.js';
import { setContextKey } from '../contextKeys.js';
import { Lifetime } from '../lifetime.js';
import type { RunStore } from '../runs/runStore.js';
import { t } from '../translate.js';
import type { TaskDocuments } from '../tasks/taskDocuments.js';
import { fileInside } from './fileInside.js';
import { readGroup, type GroupAddress } from './groups.js';
import type { Toucher } from './touchedLines.js';

type Direction = 'up' | 'down' | 'none';

/** A file of the repository that some rollout of the group changed. */
interface TouchedFile {
  /** Lines of the start tree's text, and who touched which (1-based). */
  readonly start: readonly string[];
  readonly lines: ReadonlyMap<number, readonly Toucher[]>;
}

/** Marks, in the real source files, the lines that the rollouts of a group touched, and with what advantage. */
export class TouchedLines implements vscode.Disposable {
  private readonly lifetime = new Lifetime('touched lines');
  private readonly types: Readonly<Record<Direction, vscode.TextEditorDecorationType>>;
  private files: ReadonlyMap<string, TouchedFile> = new Map();

  constructor(
    private readonly store: RunStore,
    private readonly documents: TaskDocuments,
  ) {
    const type = (background?: string) =>
      this.lifetime.add(
        vscode.window.createTextEditorDecorationType({
          isWholeLine: true,
          backgroundColor: background && new vscode.ThemeColor(background),
          overviewRulerColor: new vscode.ThemeColor('editorOverviewRuler.infoForeground'),
          overviewRulerLane: vscode.OverviewRulerLane.Right,
        }),
      );
    this.types = { up: type(Colour.PositiveWeak), down: type(Colour.NegativeWeak), none: type() };
    this.lifetime.add(vscode.window.onDidChangeVisibleTextEditors(() => this.decorateSafely()));
    this.lifetime.add(vscode.workspace.onDidChangeTextDocument(() => this.decorateSafely()));
  }

  /** Marks the lines of this group, in place of those of another, and opens the first file. */
  async show(group: GroupAddress): Promise<void> {
    const { touchedLines } = await import('../engine.js');
    const { rollouts } = await readGroup(this.store, group);
    const touched = touchedLines(
      rollouts.map(({ trajectory, header, advantage }) => ({
        rollout: header.sample + 1,
        advantage,
        resolved: header.resolved,
        patch: trajectory.patch,
      })),
    );
    const root = path.dirname(group.stateFolder);
    const address = { root, taskId: group.taskId, runId: group.runId };
    const files = new Map<string, TouchedFile>();
    for (const [file, lines] of touched) {
      const place = fileInside(root, file);
      if (place === undefined) continue;
      const start = (await this.documents.startFile(address, file)).split(/\r?\n/);
      files.set(vscode.Uri.file(place).toString(), { start, lines });
    }
    if (files.size === 0) throw badInput(t('No rollout of this group changed a file.'), '');
    this.files = files;
    setContextKey(ContextKey.TouchedLines, true);
    const [first] = files.keys();
    await vscode.window.showTextDocument(vscode.Uri.parse(first), { viewColumn: vscode.ViewColumn.Beside });
    await this.decorate();
  }

  hide(): void {
    this.files = new Map();
    setContextKey(ContextKey.TouchedLines, false);
    this.decorateSafely();
  }

  dispose(): void {
    this.lifetime.dispose();
  }

  private decorateSafely(): void {
    void this.decorate().catch(() => undefined);
  }

  private async decorate(): Promise<void> {
    for (const editor of vscode.window.visibleTextEditors) {
      const file = this.files.get(editor.document.uri.toString());
      const options = file ? await marks(editor.document, file) : [];
      for (const direction of ['up', 'down', 'none'] as const) {
        const own = options.filter((option) => option.direction === direction);
        editor.setDecorations(this.types[direction], own);
      }
    }
  }
}

type Mark = vscode.DecorationOptions & { readonly direction: Direction };

async function marks(document: vscode.TextDocument, { start, lines }: TouchedFile): Promise<Mark[]> {
  const { mapLines } = await import('../engine.js');
  const now = mapLines(start, document.getText().split(/\r?\n/));
  return [...lines].map(([line, touchers]) => {
    const at = Math.min(now[line - 1] ?? now.length, document.lineCount - 1);
    const mean = meanAdvantage(touchers);
    const direction = mean === null || mean === 0 ? 'none' : mean > 0 ? 'up' : 'down';
    const count = touchers.length === 1 ? t('1 rollout') : t('{0} rollouts', touchers.length);
    const words = mean === null ? count : t('{0}, mean advantage {1}', count, signed(mean));
    const hover = new vscode.MarkdownString().appendText(touchers.map((toucher) => toucherInWords(toucher)).join('\n'));
    const color = new vscode.ThemeColor('editorCodeLens.foreground');
    return {
      direction,
      range: document.lineAt(at).range,
      hoverMessage: hover,
      renderOptions: { after: { contentText: `  ⟵ ${t('touched by {0}', words)}`, color, fontStyle: 'italic' } },
    };
  });
}

function meanAdvantage(touchers: readonly Toucher[]): number | null {
  const known = touchers.flatMap(({ advantage }) => (advantage === null ? [] : [advantage]));
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length;
}

function toucherInWords({ rollout, advantage, resolved }: Toucher): string {
  const known = advantage === null ? t('no advantage yet') : t('advantage {0}', signed(advantage));
  return `${t('Rollout {0}', rollout)}: ${resolved ? t('solved') : t('failed')}, ${known}`;
}

const signed = (value: number) => `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(2)}`;
