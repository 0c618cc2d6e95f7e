import * as vscode from 'vscode';
import { pageHtml } from './pageHtml.js';

/** Options of every webview of ours: scripts, and no file but those of the pages. */
export function pageOptions(extensionUri: vscode.Uri): vscode.WebviewOptions {
  return { enableScripts: true, localResourceRoots: [pagesFolder(extensionUri)] };
}

/** Puts a bundled page into a webview. */
export function loadPage(webview: vscode.Webview, extensionUri: vscode.Uri, name: string, title: string): void {
  const uriOf = (file: string) => webview.asWebviewUri(vscode.Uri.joinPath(pagesFolder(extensionUri), file)).toString();
  const files = { script: uriOf(`${name}.js`), style: uriOf(`${name}.css`) };
  webview.html = pageHtml({ title, ...files, source: webview.cspSource });
}

const pagesFolder = (extensionUri: vscode.Uri) => vscode.Uri.joinPath(extensionUri, 'dist', 'pages');
