import * as vscode from 'vscode';
import type { Lifetime } from './lifetime.js';

/** Runs work under a notification with a button that cancels it; the end of `lifetime` cancels it too. */
export async function withCancellableProgress<T>(
  title: string,
  lifetime: Lifetime,
  work: (signal: AbortSignal, onProgress: (message: string) => void) => Promise<T>,
): Promise<T> {
  const cancel = new AbortController();
  const own = lifetime.child(title);
  own.add({ dispose: () => cancel.abort() });
  try {
    return await vscode.window.withProgress(
      { location: vscode.ProgressLocation.Notification, title, cancellable: true },
      (progress, token) => {
        own.add(token.onCancellationRequested(() => cancel.abort()));
        return work(cancel.signal, (message) => progress.report({ message }));
      },
    );
  } finally {
    own.dispose();
  }
}
