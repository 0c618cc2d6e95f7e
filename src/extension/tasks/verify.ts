import * as vscode from 'vscode';
import type { Context } from '../context.js';
import { withCancellableProgress } from '../progress.js';
import type { Repository } from '../repositories.js';

/** Tries the oracle, rewrites of it and every exploit against a task, in a process of its own, and says what came of it. */
export async function verifyTask(context: Context, repository: Repository, taskId: string): Promise<void> {
  const { runCli, verificationSchema } = await import('../engine.js');
  const args = ['tasks', 'verify', '--json', '--repo', repository.root, '--task', taskId];
  const { tasks } = await withCancellableProgress(`Verifying ${taskId}`, context.lifetime, (signal, onProgress) =>
    runCli({ cli: context.cli, repoRoot: repository.root, args, onProgress }, verificationSchema, signal),
  );
  context.tasks.refresh();
  for (const { tried, failures } of tasks) {
    if (failures.length === 0) {
      void vscode.window.showInformationMessage(`Whetstone: ${taskId} is sound: ${tried} of ${tried} checks passed.`);
    } else {
      const what = failures.join(', ');
      void vscode.window.showWarningMessage(
        `Whetstone: ${taskId} was dropped, ${failures.length} of ${tried} checks failed: ${what}.`,
      );
    }
  }
}

/** Makes tasks of a repository, in a process of its own. */
export async function buildTasks(context: Context, repository: Repository): Promise<void> {
  const { builtSchema, runCli } = await import('../engine.js');
  const args = ['tasks', 'build', '--json', '--repo', repository.root];
  const title = `Making tasks of ${repository.name}`;
  const { tasks, funnel } = await withCancellableProgress(title, context.lifetime, (signal, onProgress) =>
    runCli({ cli: context.cli, repoRoot: repository.root, args, onProgress }, builtSchema, signal),
  );
  context.tasks.refresh();
  const text = `Whetstone: ${tasks.length} tasks of ${funnel.found} candidates.`;
  void vscode.window.showInformationMessage(text);
}
