import * as vscode from 'vscode';
import { View } from '../contributions.js';
import type { Context } from '../context.js';
import { notify } from '../messages.js';
import { withCancellableProgress } from '../progress.js';
import { countInWords } from '../runs/foundFindings.js';
import type { RunOf } from '../runs/runTree.js';
import { t } from '../translate.js';

/** Lets the doctor read the whole record of a run, in a process of its own, and shows what it found. */
export async function examine({ cli, lifetime, store }: Context, { repository, summary }: RunOf): Promise<void> {
  const { runCli, examinationSchema } = await import('../engine.js');
  const args = ['doctor', '--json', '--repo', repository.root, '--', summary.id];
  const { findings } = await withCancellableProgress(t('Examining run {0}', summary.id), lifetime, (signal) =>
    runCli({ cli, repoRoot: repository.root, args }, examinationSchema, signal),
  );
  store.keepExamination(summary.folder, findings);
  await vscode.commands.executeCommand(`${View.Doctor}.focus`);
  const found = countInWords(findings);
  const text = found
    ? t('The doctor found {0} in run {1}.', found, summary.id)
    : t('The doctor found nothing in run {0}.', summary.id);
  notify(text);
}
