import * as vscode from 'vscode';
import type { PanelType } from '../contributions.js';
import { Lifetime } from '../lifetime.js';
import { showError } from '../messages.js';
import { plainLine } from '../plainText.js';
import { loadPage, pageOptions } from './page.js';
import { isTranslate, type Translate } from './translations.js';

export interface PanelKind<From> {
  readonly type: PanelType;
  /** Name of the bundled page. */
  readonly page: string;
  readonly titleOf: (key: string) => string;
  /** Answers a message of the page; the page asks for what it shows, so a hidden or restored one needs nothing more. */
  readonly receive: (key: string, message: From) => Promise<void>;
}

/** Panels of one kind, one for each thing that is shown, by its key. They survive a reload of the window. */
export class Panels<To, From> implements vscode.Disposable {
  private readonly lifetime = new Lifetime('panels');
  private readonly open = new Map<string, vscode.WebviewPanel>();

  constructor(
    private readonly kind: PanelKind<From>,
    private readonly extensionUri: vscode.Uri,
    private readonly log: vscode.LogOutputChannel,
  ) {
    this.lifetime.add(
      vscode.window.registerWebviewPanelSerializer(kind.type, {
        deserializeWebviewPanel: (panel, state: { key?: unknown } | undefined) => {
          if (typeof state?.key === 'string') this.adopt(state.key, panel);
          else panel.dispose();
          return Promise.resolve();
        },
      }),
    );
  }

  show(key: string): void {
    const open = this.open.get(key);
    if (open) return open.reveal();
    const { type, titleOf } = this.kind;
    const title = plainLine(titleOf(key));
    const options = { ...pageOptions(this.extensionUri), enableFindWidget: true };
    this.adopt(key, vscode.window.createWebviewPanel(type, title, vscode.ViewColumn.Active, options));
  }

  post(key: string, message: To): void {
    void this.open.get(key)?.webview.postMessage(message);
  }

  /** Keys of the panels that someone sees. */
  visible(): string[] {
    return [...this.open].filter(([, panel]) => panel.visible).map(([key]) => key);
  }

  dispose(): void {
    this.lifetime.dispose();
  }

  private adopt(key: string, panel: vscode.WebviewPanel): void {
    this.open.get(key)?.dispose();
    this.open.set(key, panel);
    const own = this.lifetime.child(key);
    own.add(panel);
    panel.webview.options = pageOptions(this.extensionUri);
    own.add(
      panel.webview.onDidReceiveMessage((message: From | Translate) => {
        if (isTranslate(message)) return;
        void this.kind.receive(key, message).catch((error: unknown) => showError(error, this.log));
      }),
    );
    own.add(
      panel.onDidDispose(() => {
        if (this.open.get(key) === panel) this.open.delete(key);
        own.dispose();
      }),
    );
    own.add(loadPage(panel.webview, this.extensionUri, this.kind.page, this.kind.titleOf(key)));
  }
}
