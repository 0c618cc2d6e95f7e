import * as vscode from 'vscode';
import type { Outlook } from '../../trainer/estimate/outlook.js';
import type { Settings } from '../../trainer/run/settings.js';
import { WhetstoneError } from '../../trajectory/errors.js';
import type { Context } from '../context.js';
import { lineOf } from '../messages.js';
import { withCancellableProgress } from '../progress.js';
import type { Repository } from '../repositories.js';
import { t } from '../translate.js';
import { chosenSettings } from './chosenSettings.js';
import { basisText, deviceOutlook, estimatedFor, parametersText } from './outlookText.js';

type Chosen = Pick<Settings, 'model' | 'device'>;
/** A model, or a way to name one that is not in the list. */
type ModelItem = vscode.QuickPickItem & { readonly model?: string; readonly ask?: () => Promise<string | undefined> };
/** A device; without one, what the estimates rest on. */
type DeviceItem = vscode.QuickPickItem & { readonly device?: Settings['device'] };

/**
 * Asks for model and device of a training, each choice with about how much memory and time it takes. The devices are measured
 * first. Undefined where the user left without an answer.
 */
export async function pickModelAndDevice(context: Context, repository: Repository): Promise<Chosen | undefined> {
  const { loadSettings, measuredDevicesSchema, runCli, trainingOutlook } = await import('../engine.js');
  const settings = await loadSettings(repository.root, chosenSettings(vscode.Uri.file(repository.root)));
  const request = { cli: context.cli, repoRoot: repository.root, args: ['devices', '--json'] };
  const { devices } = await withCancellableProgress(t('Measuring the devices'), context.lifetime, (signal) =>
    runCli(request, measuredDevicesSchema, signal),
  );
  const measured = devices.flatMap(({ name, gflops, decodedGigabytes }) =>
    gflops === null || decodedGigabytes === null ? [] : [{ name, gflops, decodedGigabytes }],
  );
  const places = { repoRoot: repository.root, stateFolder: repository.stateFolder };
  const outlookOf = (model: string) => trainingOutlook(places, { ...settings, model }, measured);

  const models = await Promise.all(
    (await knownModels(context, repository, settings.model)).map(async (model): Promise<ModelItem> => ({
      label: model,
      model,
      ...(await modelWords(() => outlookOf(model), settings.device)),
    })),
  );
  const others: ModelItem[] = [
    { label: '', kind: vscode.QuickPickItemKind.Separator },
    { label: `$(folder-opened) ${t('A folder or a GGUF file…')}`, ask: openModel },
    { label: `$(cloud-download) ${t('A name on the hub…')}`, ask: nameModel },
  ];
  const title = t('Model of the training on {0}', repository.name);
  const picked = await vscode.window.showQuickPick([...models, ...others], { title, matchOnDescription: true });
  const model = picked?.model ?? (await picked?.ask?.());
  if (model === undefined) return undefined;
  const outlook = await outlookOf(model);
  const device = await pickDevice(
    outlook,
    measured.map(({ name }) => name),
    settings.device,
  );
  return device && { model, device };
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

async function modelWords(
  outlookOf: () => Promise<Outlook | null>,
  set: Settings['device'],
): Promise<Pick<vscode.QuickPickItem, 'description' | 'detail'>> {
  try {
    const outlook = await outlookOf();
    if (outlook === null) return { detail: t('Not fetched yet, so there is no estimate.') };
    const onDevice = outlookOn(outlook, set);
    return {
      description: parametersText(outlook),
      detail: onDevice && t('On {0}: {1}', onDevice.name, deviceOutlook(onDevice)),
    };
  } catch (error) {
    if (error instanceof WhetstoneError) return { detail: lineOf(error) };
    throw error;
  }
}

async function pickDevice(
  outlook: Outlook | null,
  measured: readonly Settings['device'][],
  set: Settings['device'],
): Promise<Settings['device'] | undefined> {
  const detailOf = (device: Settings['device']) => {
    const onDevice = outlook && outlookOn(outlook, device);
    return onDevice ? deviceOutlook(onDevice) : t('Not fetched yet, so there is no estimate.');
  };
  const items = (['auto', ...measured] as const)
    .map((device): DeviceItem => ({
      label: device,
      ...(device === 'auto' && outlook && { description: t('takes {0} here', outlook.auto) }),
      detail: detailOf(device),
      device,
    }))
    .sort((a, b) => Number(b.device === set) - Number(a.device === set));
  const about: DeviceItem[] = outlook
    ? [
        { label: '', kind: vscode.QuickPickItemKind.Separator },
        { label: `$(info) ${t('About these figures')}`, detail: basisText(outlook) },
      ]
    : [];
  const options = { title: t('Device of the training'), ...(outlook && { placeHolder: estimatedFor(outlook) }) };
  for (;;) {
    const picked = await vscode.window.showQuickPick([...items, ...about], options);
    // What they rest on is read, and chosen is still nothing.
    if (!picked || picked.device !== undefined) return picked?.device;
  }
}

const outlookOn = ({ auto, devices }: Outlook, device: Settings['device']) =>
  devices.find(({ name }) => name === (device === 'auto' ? auto : device));

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
