import * as vscode from 'vscode';
import type { Settings } from '../../trainer/run/settings.js';
import type { Context } from '../context.js';
import { pickOne } from '../quickPick.js';
import type { Repository } from '../repositories.js';
import { t } from '../translate.js';
import type { OutlookOf } from './outlookText.js';
import { outlookWords } from './outlookWords.js';

/** A model, or a way to name one that is not in the list. */
type ModelItem = vscode.QuickPickItem & { readonly model?: string; readonly ask?: () => Promise<string | undefined> };

/** Asks for a model, each with about how much a training of it takes; undefined where the user left without an answer. */
export async function pickModel(
  context: Context,
  repository: Repository,
  settings: Settings,
  outlookOf: OutlookOf,
): Promise<string | undefined> {
  const models = await Promise.all(
    (await knownModels(context, repository, settings.model)).map(async (model): Promise<ModelItem> => ({
      label: model,
      model,
      ...(await outlookWords(() => outlookOf({ model }), settings.device)),
    })),
  );
  const others: ModelItem[] = [
    { label: '', kind: vscode.QuickPickItemKind.Separator },
    { label: t('A folder or a GGUF file…'), iconPath: new vscode.ThemeIcon('folder-opened'), ask: openModel },
    { label: t('A name on the hub…'), iconPath: new vscode.ThemeIcon('cloud-download'), ask: nameModel },
  ];
  const title = t('Model of the training on {0}', repository.name);
  const picked = await pickOne([...models, ...others], { title, matchOnDescription: true });
  return picked?.model ?? (await picked?.ask?.());
}

/** The one that is set, the embedded one, and those of the repository's runs, newest first. */
async function knownModels({ store }: Context, { stateFolder }: Repository, set: string): Promise<string[]> {
  const models = new Set([set, 'embedded']);
  const runs = (await store.runs()).filter(({ repository }) => repository.stateFolder === stateFolder);
  for (const { summary } of runs) {
    // A run whose files are broken is shown as such in the view of runs.
    const config = await (await store.reader(stateFolder, summary.id)).config().catch(() => null);
    if (config !== null) models.add(config.settings.model);
  }
  return [...models];
}

async function openModel(): Promise<string | undefined> {
  const [file] =
    (await vscode.window.showOpenDialog({
      title: t('A model in Hugging Face layout, an adapter, or a GGUF file'),
      canSelectFiles: true,
      canSelectFolders: true,
    })) ?? [];
  return file?.fsPath;
}

async function nameModel(): Promise<string | undefined> {
  const name = await vscode.window.showInputBox({
    title: t('A name on the hub'),
    prompt: t('owner/name, owner/name@revision or owner/name:file.gguf'),
    validateInput: (text) => (/^[\w.-]+\/[\w.-]+/.test(text.trim()) ? undefined : t('Give owner/name.')),
  });
  return name?.trim();
}
