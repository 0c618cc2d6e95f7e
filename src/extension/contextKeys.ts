import * as vscode from 'vscode';
import type { ContextKey } from './contributions.js';

const written = new Map<ContextKey, boolean>();

/** Sets a context key; writes only what changes. */
export function setContextKey(key: ContextKey, value: boolean): void {
  if (written.get(key) === value) return;
  written.set(key, value);
  void vscode.commands.executeCommand('setContext', key, value);
}
