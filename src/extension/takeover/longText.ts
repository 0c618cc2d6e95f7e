import * as vscode from 'vscode';
import { setContextKey } from '../contextKeys.js';
import { ContextKey } from '../contributions.js';
import { Lifetime } from '../lifetime.js';

/** Texts of several lines, which a box has no room for: written in an editor, handed over by a command. */
export class LongTexts implements vscode.Disposable {
  private readonly lifetime = new Lifetime('long texts');
  private writing?: { readonly document: vscode.TextDocument; readonly done: (text: string | undefined) => void };

  constructor() {
    this.lifetime.add(
      vscode.workspace.onDidCloseTextDocument((document) => {
        if (document === this.writing?.document) this.finish(undefined);
      }),
    );
  }

  /** Lets the user write; undefined where they closed the editor instead. */
  async write(text: string): Promise<string | undefined> {
    this.finish(undefined);
    const document = await vscode.workspace.openTextDocument({ content: text });
    await vscode.window.showTextDocument(document, { preview: false });
    setContextKey(ContextKey.WritingText, true);
    const written = await new Promise<string | undefined>((done) => {
      this.writing = { document, done };
    });
    setContextKey(ContextKey.WritingText, false);
    return written;
  }

  /** The text is ready: takes it and closes its editor. */
  async use(): Promise<void> {
    const { writing } = this;
    if (!writing) return;
    const text = writing.document.getText();
    await vscode.window.showTextDocument(writing.document);
    // The editor that is closed gives the focus to its neighbour: what asks for the next argument has to come after that.
    this.writing = undefined;
    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
    writing.done(text);
  }

  dispose(): void {
    this.finish(undefined);
    this.lifetime.dispose();
  }

  private finish(text: string | undefined): void {
    const { writing } = this;
    this.writing = undefined;
    writing?.done(text);
  }
}
