import type { Context } from '../context.js';
import { notify } from '../messages.js';
import { withCancellableProgress } from '../progress.js';
import type { Repository } from '../repositories.js';
import { ofEngine, t } from '../translate.js';

/** Tries the oracle, rewrites of it and every exploit against a task, in a process of its own, and says what came of it. */
export async function verifyTask(context: Context, repository: Repository, taskId: string): Promise<void> {
  const { runCli, verificationSchema } = await import('../engine.js');
  const args = ['tasks', 'verify', '--json', '--repo', repository.root, '--task', taskId];
  const { tasks } = await withCancellableProgress(t('Verifying {0}', taskId), context.lifetime, (signal, onProgress) =>
    runCli({ cli: context.cli, repoRoot: repository.root, args, onProgress }, verificationSchema, signal),
  );
  context.tasks.refresh();
  for (const { tried, failures } of tasks) {
    if (failures.length === 0) {
      notify(t('{0} is sound: {1} of {2} checks passed.', taskId, tried, tried));
    } else {
      const what = failures.map((name) => ofEngine({ message: name })).join(', ');
      notify(t('{0} was dropped, {1} of {2} checks failed: {3}.', taskId, failures.length, tried, what), [], 'warning');
    }
  }
}

/** Makes tasks of a repository, in a process of its own. */
export async function buildTasks(context: Context, repository: Repository): Promise<void> {
  const { builtSchema, runCli } = await import('../engine.js');
  const args = ['tasks', 'build', '--json', '--repo', repository.root];
  const title = t('Making tasks of {0}', repository.name);
  const { tasks, funnel } = await withCancellableProgress(title, context.lifetime, (signal, onProgress) =>
    runCli({ cli: context.cli, repoRoot: repository.root, args, onProgress }, builtSchema, signal),
  );
  context.tasks.refresh();
  notify(t('{0} tasks of {1} candidates.', tasks.length, funnel.found));
}
