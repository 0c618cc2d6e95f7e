import * as vscode from 'vscode';
import { Colour, ContextKey, Scheme, settingsSection } from '../contributions.js';
import { setContextKey } from '../contextKeys.js';
import { Lifetime } from '../lifetime.js';
import { pickOne } from '../quickPick.js';
import { paints, paintTokens, tokenColourings, type Paint, type Stretch, type TokenColouring } from './tokenColours.js';
import type { TrajectoryDocuments } from './trajectoryDocuments.js';
import { t } from '../translate.js';

/** Documents of more tokens than this are painted around what is visible. */
const paintedWhole = 20_000;
const marginLines = 400;

const colour = (id: string) => new vscode.ThemeColor(id);

/** Where colour alone would tell, a line under the text tells too. */
const looks: Readonly<Record<Paint, vscode.DecorationRenderOptions>> = {
  prompt: { color: colour(Colour.PromptToken) },
  agent: {
    backgroundColor: colour(Colour.AgentToken),
    overviewRulerColor: colour(Colour.AgentToken),
    overviewRulerLane: vscode.OverviewRulerLane.Left,
  },
  observation: { backgroundColor: colour(Colour.ObservationToken), fontStyle: 'italic' },
  positiveWeak: { backgroundColor: colour(Colour.PositiveWeak), textDecoration: 'underline' },
  positiveMedium: { backgroundColor: colour(Colour.PositiveMedium), textDecoration: 'underline' },
  positiveStrong: { backgroundColor: colour(Colour.PositiveStrong), textDecoration: 'underline' },
  negativeWeak: { backgroundColor: colour(Colour.NegativeWeak), textDecoration: 'underline dotted' },
  negativeMedium: { backgroundColor: colour(Colour.NegativeMedium), textDecoration: 'underline dotted' },
  negativeStrong: { backgroundColor: colour(Colour.NegativeStrong), textDecoration: 'underline dotted' },
  amountWeak: { backgroundColor: colour(Colour.AmountWeak), textDecoration: 'underline dashed' },
  amountMedium: { backgroundColor: colour(Colour.AmountMedium), textDecoration: 'underline dashed' },
  amountStrong: { backgroundColor: colour(Colour.AmountStrong), textDecoration: 'underline dashed' },
};

/** Paints the tokens of every visible trajectory document by the chosen colouring. */
export class TokenDecorations implements vscode.Disposable {
  private readonly lifetime = new Lifetime('token decorations');
  private readonly types: ReadonlyMap<Paint, vscode.TextEditorDecorationType>;
  private readonly headerType: vscode.TextEditorDecorationType;
  /** Lines that are painted of a document too large to be painted as a whole. */
  private readonly windows = new WeakMap<vscode.TextEditor, vscode.Range>();

  constructor(private readonly documents: TrajectoryDocuments) {
    const create = (look: vscode.DecorationRenderOptions) =>
      this.lifetime.add(vscode.window.createTextEditorDecorationType(look));
    this.types = new Map(paints.map((paint) => [paint, create(looks[paint])]));
    this.headerType = create({ color: colour(Colour.Header), fontWeight: 'bold', isWholeLine: true });
    this.lifetime.add(vscode.window.onDidChangeVisibleTextEditors(() => this.paintAll()));
    this.lifetime.add(vscode.window.onDidChangeActiveTextEditor(() => this.noteActive()));
    this.lifetime.add(vscode.window.onDidChangeTextEditorVisibleRanges(({ textEditor }) => this.follow(textEditor)));
    this.lifetime.add(documents.onDidLearn(() => this.paintAll()));
    this.lifetime.add(
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration(`${settingsSection}.tokenColours`)) this.paintAll();
      }),
    );
    this.noteActive();
    this.paintAll();
  }

  dispose(): void {
    this.lifetime.dispose();
  }

  /** What is painted where in a document, in its offsets. */
  async stretches(uri: vscode.Uri, colouring = chosenColouring(), within?: Stretch) {
    return paintTokens(await this.documents.of(uri), colouring, within);
  }

  /** Paints on where the editor was scrolled out of what is painted. */
  private follow(editor: vscode.TextEditor): void {
    const painted = this.windows.get(editor);
    if (!painted || editor.visibleRanges.every((range) => painted.contains(range))) return;
    void this.paint(editor).catch(() => undefined);
  }

  private noteActive(): void {
    setContextKey(ContextKey.TrajectoryOpen, vscode.window.activeTextEditor?.document.uri.scheme === Scheme.Trajectory);
  }

  private paintAll(): void {
    for (const editor of vscode.window.visibleTextEditors) {
      // A document that could not be loaded has no tokens to paint; its editor says why.
      if (editor.document.uri.scheme === Scheme.Trajectory) void this.paint(editor).catch(() => undefined);
    }
  }

  private async paint(editor: vscode.TextEditor): Promise<void> {
    const { document } = editor;
    const { sections, tokens } = await this.documents.of(document.uri);
    const window = tokens.length > paintedWhole ? windowOf(editor) : undefined;
    if (window) this.windows.set(editor, window.lines);
    else this.windows.delete(editor);
    for (const [paint, stretches] of await this.stretches(document.uri, undefined, window?.offsets)) {
      const ranges = stretches.map(
        ({ start, end }) => new vscode.Range(document.positionAt(start), document.positionAt(end)),
      );
      editor.setDecorations(this.types.get(paint)!, ranges);
    }
    const headers = [0, ...sections.map(({ headerLine }) => headerLine)];
    editor.setDecorations(
      this.headerType,
      headers.map((line) => document.lineAt(line).range),
    );
  }
}

/** What is visible in an editor with a margin around it, as lines and as offsets. */
function windowOf({ document, visibleRanges }: vscode.TextEditor): { lines: vscode.Range; offsets: Stretch } {
  const visible = visibleRanges.map(({ start, end }) => [start.line, end.line]).flat();
  const first = Math.max(0, Math.min(...visible) - marginLines);
  const last = Math.min(document.lineCount - 1, Math.max(0, ...visible) + marginLines);
  const lines = new vscode.Range(new vscode.Position(first, 0), document.lineAt(last).range.end);
  return { lines, offsets: { start: document.offsetAt(lines.start), end: document.offsetAt(lines.end) } };
}

export function chosenColouring(): TokenColouring {
  const value = vscode.workspace.getConfiguration(settingsSection).get<string>('tokenColours');
  return tokenColourings.find((name) => name === value) ?? 'mask';
}

/** Asks for a colouring and keeps it in the user's settings. */
export async function chooseTokenColours(): Promise<void> {
  const current = chosenColouring();
  const details: Readonly<Record<TokenColouring, string>> = {
    mask: t('Who wrote the token: the policy, the prompt, or an observation'),
    advantage: t('Which tokens training pushes up, and which down'),
    'log-prob': t('The less likely the policy found its own token, the stronger'),
    entropy: t('How undecided the policy was when it chose the token'),
    ratio: t('The learner’s probability over the sampler’s: above 1 underlined, below 1 dotted'),
    clipped: t('Tokens whose ratio lies beyond the run’s bounds, so that they teach nothing'),
    kl: t('How far the learner is from the reference policy'),
    'sampler-learner': t('Where sampler and learner disagree about the same token'),
    'loss-share': t('How much of the trajectory’s gradient comes from the token, and which way it pushes'),
  };
  const picked = await pickOne(
    tokenColourings.map((label) => ({ label, detail: details[label], picked: label === current })),
    { title: t('Token colours'), placeHolder: t('Now: {0}', current) },
  );
  if (!picked) return;
  await vscode.workspace
    .getConfiguration(settingsSection)
    .update('tokenColours', picked.label, vscode.ConfigurationTarget.Global);
}
