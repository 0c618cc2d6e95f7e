import * as vscode from 'vscode';
import { WhetstoneError } from '../trajectory/errors.js';
import { t } from './translate.js';

/** A button of a message. */
export interface Action {
  readonly title: string;
  run(): unknown;
}

/** One line for a person, whatever was thrown. */
export function lineOf(error: unknown): string {
  if (error instanceof WhetstoneError) return error.line;
  return error instanceof Error ? error.message : String(error);
}

/** Shows an error with its actions; a cancellation is no error. Does not wait for the answer. */
export function showError(error: unknown, log: vscode.LogOutputChannel, actions: readonly Action[] = []): void {
  if (error instanceof WhetstoneError && error.kind === 'cancelled') return;
  log.error(error instanceof Error ? error : String(error));
  const all = [...actions, { title: t('Show Output'), run: () => log.show() }];
  const shown = vscode.window.showErrorMessage(`Whetstone: ${lineOf(error)}`, ...all.map((action) => action.title));
  void answer(shown, all);
}

/** Runs the action whose button was pressed. */
export async function answer(shown: Thenable<string | undefined>, actions: readonly Action[]): Promise<void> {
  const title = await shown;
  await actions.find((action) => action.title === title)?.run();
}
