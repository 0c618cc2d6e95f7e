import * as vscode from 'vscode';
import { pageHtml } from './pageHtml.js';
import { isTranslate, type Translations } from './translations.js';

/** Options of every webview of ours: scripts, and no file but those of the pages. */
export function pageOptions(extensionUri: vscode.Uri): vscode.WebviewOptions {
  return { enableScripts: true, localResourceRoots: [pagesFolder(extensionUri)] };
}

/** Puts a bundled page into a webview, and answers it when it asks for its texts. */
export function loadPage(
  webview: vscode.Webview,
  extensionUri: vscode.Uri,
  name: string,
  title: string,
): vscode.Disposable {
  const uriOf = (file: string) => webview.asWebviewUri(vscode.Uri.joinPath(pagesFolder(extensionUri), file)).toString();
  const files = { script: uriOf(`${name}.js`), style: uriOf(`${name}.css`) };
  const answering = webview.onDidReceiveMessage((message: unknown) => {
    const answer: Translations = { type: 'translations', texts: vscode.l10n.bundle ?? {} };
    if (isTranslate(message)) void webview.postMessage(answer);
  });
  webview.html = pageHtml({ title, language: vscode.env.language, ...files, source: webview.cspSource });
  return answering;
}

const pagesFolder = (extensionUri: vscode.Uri) => vscode.Uri.joinPath(extensionUri, 'dist', 'pages');
