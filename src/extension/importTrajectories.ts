import * as vscode from 'vscode';
import type { Context } from './context.js';
import { requireTrust } from './commandTargets.js';
import type { ImportedRun } from './importedRun.js';
import { notify, showError } from './messages.js';
import { pickRepository, pickTrajectoryOf } from './pickers.js';
import { withCancellableProgress } from './progress.js';
import type { Repository } from './repositories.js';
import { revealTrajectory } from './revealTrajectory.js';
import { t } from './translate.js';

/**
 * Opens trajectory files of other systems (verifiers, SWE-agent, mini-swe-agent, OpenAI messages, Inspect, verl): they are
 * recorded as a run, which everything that shows runs can show. `target`: the file; asked for where it is none.
 */
export async function openTrajectoryFile(context: Context, target: unknown): Promise<void> {
  requireTrust();
  const files = target instanceof vscode.Uri && target.scheme === 'file' ? [target] : await askForFiles();
  const repository = files && (await pickRepository(context.store));
  if (files && repository) await importFiles(context, repository, files);
}

async function importFiles(
  context: Context,
  repository: Repository,
  files: readonly vscode.Uri[],
  model?: vscode.Uri,
): Promise<void> {
  const { importedRunSchema, runCli } = await import('./engine.js');
  const tokenizer = model ? ['--model', model.fsPath] : [];
  const paths = files.map(({ fsPath }) => fsPath);
  const request = {
    cli: context.cli,
    repoRoot: repository.root,
    args: ['runs', 'import', '--json', '--repo', repository.root, ...tokenizer, '--', ...paths],
  };
  const imported = await withCancellableProgress(t('Reading trajectories'), context.lifetime, (signal) =>
    runCli(request, importedRunSchema, signal),
  );
  context.store.refresh();
  if (imported.withoutTokens > 0) offerTokenizer(context, repository, files, imported);
  const address = await pickTrajectoryOf(context.store, repository.stateFolder, imported.runId);
  if (address) await revealTrajectory(context.trajectories, address, undefined, { preview: false });
}

/** Does not wait for the answer. */
function offerTokenizer(
  context: Context,
  repository: Repository,
  files: readonly vscode.Uri[],
  { withoutTokens }: ImportedRun,
): void {
  const choose = {
    title: t('Choose Tokenizer…'),
    run: async () => {
      try {
        const [folder] = (await askForModel()) ?? [];
        if (folder) await importFiles(context, repository, files, folder);
      } catch (error) {
        showError(error, context.log);
      }
    },
  };
  const text = t('{0} trajectories hold token ids, which were left out: their tokenizer is not known.', withoutTokens);
  notify(text, [choose]);
}

function askForFiles(): Thenable<vscode.Uri[] | undefined> {
  return vscode.window.showOpenDialog({
    title: t('Open trajectory files'),
    canSelectMany: true,
    filters: { [t('Trajectories')]: ['traj', 'json', 'jsonl', 'eval'], [t('All files')]: ['*'] },
  });
}

function askForModel(): Thenable<vscode.Uri[] | undefined> {
  return vscode.window.showOpenDialog({
    title: t('Folder of the model that played (with its tokenizer.json)'),
    canSelectFiles: false,
    canSelectFolders: true,
  });
}
