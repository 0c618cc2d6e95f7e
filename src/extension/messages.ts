import * as vscode from 'vscode';
import { WhetstoneError } from '../trajectory/errors.js';
import { lineOf } from './lineOf.js';
import { plainMessage } from './plainText.js';
import { t } from './translate.js';

/** A button of a message. */
export interface Action {
  readonly title: string;
  run(): unknown;
}

type Severity = 'information' | 'warning' | 'error';

/** Shows an error with its actions; a cancellation is no error. Does not wait for the answer. */
export function showError(error: unknown, log: vscode.LogOutputChannel, actions: readonly Action[] = []): void {
  if (error instanceof WhetstoneError && error.kind === 'cancelled') return;
  log.error(error instanceof Error ? error : String(error));
  notify(lineOf(error), [...actions, { title: t('Show Output'), run: () => log.show() }], 'error');
}

/** Shows a message, whose words may come from anywhere, with its actions. Does not wait for the answer. */
export function notify(text: string, actions: readonly Action[] = [], severity: Severity = 'information'): void {
  void show(`Whetstone: ${plainMessage(text)}`, severity, actions);
}

/** Whether the user agrees, in a dialogue. */
export async function agrees(question: string, yes: string): Promise<boolean> {
  return (await vscode.window.showWarningMessage(question, { modal: true }, yes)) === yes;
}

/** Runs the action whose button was pressed. */
async function show(text: string, severity: Severity, actions: readonly Action[]): Promise<void> {
  const titles = actions.map(({ title }) => title);
  const { showErrorMessage, showInformationMessage, showWarningMessage } = vscode.window;
  const shows: Readonly<Record<Severity, (text: string, ...titles: string[]) => Thenable<string | undefined>>> = {
    information: showInformationMessage,
    warning: showWarningMessage,
    error: showErrorMessage,
  };
  const pressed = await shows[severity](text, ...titles);
  await actions.find(({ title }) => title === pressed)?.run();
}
