import * as vscode from 'vscode';
import { Command, Scheme } from '../contributions.js';
import { Lifetime } from '../lifetime.js';
import { machineError } from '../machineError.js';
import { plainLabel, plainLine } from '../plainText.js';
import { firstFrom } from './tokenColours.js';
import { tokenStory } from './tokenStory.js';
import type { OpenTrajectory, TrajectoryDocuments } from './trajectoryDocuments.js';
import type { PlacedToken } from './trajectoryText.js';
import { t } from '../translate.js';

/** Hover, code lenses, folding and outline of trajectory documents. */
export function registerTrajectoryProviders(documents: TrajectoryDocuments): vscode.Disposable {
  const selector = { scheme: Scheme.Trajectory };
  const lifetime = new Lifetime('trajectory providers');
  lifetime.add(
    vscode.languages.registerHoverProvider(selector, {
      provideHover: async (document, position) => tokenHover(document, position, await documents.of(document.uri)),
    }),
  );
  lifetime.add(
    vscode.languages.registerCodeLensProvider(selector, {
      provideCodeLenses: async (document) => turnLenses(document.uri, await documents.of(document.uri)),
    }),
  );
  lifetime.add(
    vscode.languages.registerFoldingRangeProvider(selector, {
      provideFoldingRanges: async (document) => turnFolds(await documents.of(document.uri)),
    }),
  );
  lifetime.add(
    vscode.languages.registerDocumentSymbolProvider(selector, {
      provideDocumentSymbols: async (document) => outline(document, await documents.of(document.uri)),
    }),
  );
  return lifetime;
}

function tokenHover(
  document: vscode.TextDocument,
  position: vscode.Position,
  opened: OpenTrajectory,
): vscode.Hover | undefined {
  const offset = document.offsetAt(position);
  const { tokens, trajectory } = opened;
  const under: PlacedToken[] = [];
  // Tokens that share a character are side by side.
  for (let at = firstFrom(tokens, offset); tokens[at] && tokens[at].start <= offset; at++) under.push(tokens[at]);
  if (under.length === 0) return undefined;
  const contents = under.map((token) => {
    // Values go in as text: nothing that a token spells is taken for markdown, a link or a command.
    const hover = new vscode.MarkdownString();
    for (const line of tokenStory(token, trajectory.kind, opened)) {
      for (const [index, [name, value]] of line.entries()) {
        hover.appendMarkdown(`${index === 0 ? '' : ' · '}**${name}** `).appendText(plainLine(value));
      }
      hover.appendMarkdown('  \n');
    }
    return hover;
  });
  const range = new vscode.Range(document.positionAt(under[0].start), document.positionAt(under[0].end));
  return new vscode.Hover(contents, range);
}

function turnLenses(uri: vscode.Uri, { sections, trajectory }: OpenTrajectory): vscode.CodeLens[] {
  const at = (line: number) => new vscode.Range(line, 0, line, 0);
  const { grade } = trajectory;
  const reward = grade
    ? `${t('Reward {0}', grade.reward.toFixed(3))} = ${Object.entries(grade.components)
        .map(([name, { score, weight }]) => `${name} ${score.toFixed(2)} × ${weight}`)
        .join(' + ')}`
    : t('No reward: {0}', machineError(trajectory) ?? trajectory.stopReason);
  return [
    new vscode.CodeLens(at(0), { title: plainLabel(reward), command: '' }),
    ...sections
      .filter((section) => section.role === 'agent')
      .flatMap(({ headerLine, turn }) => [
        new vscode.CodeLens(at(headerLine), {
          title: `$(debug-step-over) ${t('Replay to here')}`,
          tooltip: t('Play turns 1 to {0} again in a fresh worktree', turn ?? 0),
          command: Command.ReplayToTurn,
          arguments: [uri, turn],
        }),
        new vscode.CodeLens(at(headerLine), {
          title: `$(debug-alt) ${t('Step from here')}`,
          tooltip: t('Play turns 1 to {0} again, then step forwards and backwards', turn ?? 0),
          command: Command.StepThrough,
          arguments: [uri, turn],
        }),
        new vscode.CodeLens(at(headerLine), {
          title: `$(git-branch) ${t('Branch here')}`,
          tooltip: t('Play on several times in place of turn {0}', turn ?? 0),
          command: Command.BranchHere,
          arguments: [uri, turn],
        }),
        new vscode.CodeLens(at(headerLine), {
          title: `$(person) ${t('Take over')}`,
          tooltip: t('Act yourself in place of turn {0}', turn ?? 0),
          command: Command.TakeOver,
          arguments: [uri, turn],
        }),
      ]),
  ];
}

/** A turn folds with its observation; inside of it each message folds too. */
function turnFolds({ sections }: OpenTrajectory): vscode.FoldingRange[] {
  const messages = sections.map(({ headerLine, lastLine }) => new vscode.FoldingRange(headerLine, lastLine));
  const turns = spansOfTurns(sections).map(({ first, last }) => new vscode.FoldingRange(first, last));
  return [...turns, ...messages.filter((fold) => !turns.some((turn) => turn.start === fold.start))];
}

function outline(document: vscode.TextDocument, { sections }: OpenTrajectory): vscode.DocumentSymbol[] {
  return sections.map(({ headerLine, lastLine }) => {
    const header = document.lineAt(headerLine);
    const whole = new vscode.Range(header.range.start, document.lineAt(lastLine).range.end);
    const name = header.text.replace(/^── | ──$/g, '');
    return new vscode.DocumentSymbol(name, '', vscode.SymbolKind.Event, whole, header.range);
  });
}

function spansOfTurns(sections: OpenTrajectory['sections']): { first: number; last: number }[] {
  const spans = new Map<number, { first: number; last: number }>();
  for (const { turn, headerLine, lastLine } of sections) {
    if (turn === null) continue;
    spans.set(turn, { first: spans.get(turn)?.first ?? headerLine, last: lastLine });
  }
  return [...spans.values()];
}
