import { setTimeout as sleep } from 'node:timers/promises';
import * as vscode from 'vscode';
import type { Api } from '../../../src/extension/extension.js';

export async function activated(): Promise<Api> {
  const extension = vscode.extensions.getExtension<Api>('whetstone.whetstone');
  if (!extension) throw new Error('the extension is not installed');
  return extension.activate();
}

/** The opened repository. */
export function repoRoot(): string {
  const [folder] = vscode.workspace.workspaceFolders ?? [];
  if (!folder) throw new Error('no folder is open');
  return folder.uri.fsPath;
}

/** Tries again until the check holds; throws its last failure after the limit. */
export async function eventually(check: () => unknown, milliseconds = 60_000): Promise<void> {
  for (const end = Date.now() + milliseconds; ;) {
    try {
      await check();
      return;
    } catch (error) {
      if (Date.now() > end) throw error;
      await sleep(50);
    }
  }
}
