import * as vscode from 'vscode';
import { View } from './contributions.js';
import { Lifetime } from './lifetime.js';

export function activate(context: vscode.ExtensionContext): void {
  const lifetime = new Lifetime('extension');
  context.subscriptions.push(lifetime);
  lifetime.add(
    vscode.window.createTreeView(View.Runs, {
      treeDataProvider: { getChildren: () => [], getTreeItem: (x: vscode.TreeItem) => x },
    }),
  );
}
