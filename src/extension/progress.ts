import * as vscode from 'vscode';
import type { Lifetime } from './lifetime.js';
import { plainMessage } from './plainText.js';

/** Says how far the work is, in words, and by how many percent more than before. */
type Report = (message: string, increment?: number) => void;

/** Runs work under a notification; one that the user can cancel where `onCancel` says what that does. Words may come from anywhere. */
export async function withProgress<T>(
  title: string,
  work: (report: Report) => Promise<T>,
  onCancel?: () => void,
): Promise<T> {
  const options = {
    location: vscode.ProgressLocation.Notification,
    title: plainMessage(title),
    cancellable: onCancel !== undefined,
  };
  return vscode.window.withProgress(options, async (progress, token) => {
    const listening = onCancel && token.onCancellationRequested(onCancel);
    try {
      return await work((message, increment) => progress.report({ message: plainMessage(message), increment }));
    } finally {
      listening?.dispose();
    }
  });
}

/** Runs work under a notification with a button that cancels it; the end of `lifetime` cancels it too. */
export async function withCancellableProgress<T>(
  title: string,
  lifetime: Lifetime,
  work: (signal: AbortSignal, onProgress: Report) => Promise<T>,
): Promise<T> {
  const cancel = new AbortController();
  const own = lifetime.child(title);
  own.add({ dispose: () => cancel.abort() });
  try {
    return await withProgress(
      title,
      (report) => work(cancel.signal, report),
      () => cancel.abort(),
    );
  } finally {
    own.dispose();
  }
}
