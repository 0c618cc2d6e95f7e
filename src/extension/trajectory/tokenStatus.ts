import * as vscode from 'vscode';
import { Command, Scheme, settingsSection } from '../contributions.js';
import { Lifetime } from '../lifetime.js';
import { plainLabel } from '../plainText.js';
import { firstFrom } from './tokenColours.js';
import { chosenColouring } from './tokenDecorations.js';
import { tokenLine } from './tokenStory.js';
import type { TrajectoryDocuments } from './trajectoryDocuments.js';
import { t } from '../translate.js';

/** The status bar's words for the token under the cursor: what its colour says, for those who do not see it. */
export class TokenStatus implements vscode.Disposable {
  private readonly lifetime = new Lifetime('token status');
  private readonly item = this.lifetime.add(
    vscode.window.createStatusBarItem('whetstone.token', vscode.StatusBarAlignment.Right, 101),
  );

  constructor(private readonly documents: TrajectoryDocuments) {
    this.item.name = t('Whetstone Token');
    this.item.command = Command.ChooseTokenColours;
    this.item.tooltip = t('The token under the cursor. Click to choose what the colours say.');
    const show = () => void this.show().catch(() => this.item.hide());
    this.lifetime.add(vscode.window.onDidChangeTextEditorSelection(show));
    this.lifetime.add(vscode.window.onDidChangeActiveTextEditor(show));
    this.lifetime.add(documents.onDidLearn(show));
    this.lifetime.add(
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration(`${settingsSection}.tokenColours`)) show();
      }),
    );
    show();
  }

  /** What the status bar says; empty where no token is under the cursor. */
  get text(): string {
    return this.item.text;
  }

  dispose(): void {
    this.lifetime.dispose();
  }

  private async show(): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    if (editor?.document.uri.scheme !== Scheme.Trajectory) return this.hide();
    const { document, selection } = editor;
    const opened = await this.documents.of(document.uri);
    const offset = document.offsetAt(selection.active);
    const token = opened.tokens.at(firstFrom(opened.tokens, offset));
    if (!token || token.start > offset || firstFrom(opened.tokens, offset) === opened.tokens.length) return this.hide();
    const line = tokenLine(token, chosenColouring(), opened);
    this.item.text = `$(symbol-color) ${plainLabel(line)}`;
    this.item.accessibilityInformation = { label: t('Token {0}: {1}', token.index, line) };
    this.item.show();
  }

  private hide(): void {
    this.item.text = '';
    this.item.hide();
  }
}
