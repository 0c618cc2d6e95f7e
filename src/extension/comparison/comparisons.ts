import * as vscode from 'vscode';
import { Scheme } from '../contributions.js';
import { Lifetime } from '../lifetime.js';
import { t } from '../translate.js';

/** Comparisons of policies as read-only documents, which live as long as their tabs. */
export class Comparisons implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly lifetime = new Lifetime('comparisons');
  private readonly texts = new Map<string, string>();
  private next = 1;

  constructor() {
    this.lifetime.add(vscode.workspace.registerTextDocumentContentProvider(Scheme.Comparison, this));
    this.lifetime.add(
      vscode.workspace.onDidCloseTextDocument(({ uri }) => {
        if (uri.scheme === Scheme.Comparison) this.texts.delete(uri.query);
      }),
    );
  }

  async show(text: string): Promise<void> {
    const key = String(this.next++);
    this.texts.set(key, text);
    const path = `/${t('Comparison {0}', key)}.replay`;
    const uri = vscode.Uri.from({ scheme: Scheme.Comparison, path, query: key });
    await vscode.window.showTextDocument(uri, { preview: false });
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.query) ?? t('This comparison is gone. Run `Whetstone: Compare Checkpoints` again.');
  }

  dispose(): void {
    this.lifetime.dispose();
  }
}
