import * as vscode from 'vscode';
import type { Settings } from '../../trainer/run/settings.js';
import type { Context } from '../context.js';
import { withCancellableProgress } from '../progress.js';
import type { Repository } from '../repositories.js';
import { t } from '../translate.js';
import { chosenSettings } from './chosenSettings.js';
import type { OutlookOf } from './outlookText.js';
import { pickDevice } from './pickDevice.js';
import { pickModel } from './pickModel.js';
import { pickTrained } from './pickTrained.js';

/**
 * Asks for model, what of it is trained, and device, each choice with about how much memory and time it takes. The devices are
 * measured first. Undefined where the user left without an answer.
 */
export async function pickTraining(
  context: Context,
  repository: Repository,
): Promise<Pick<Settings, 'model' | 'lora' | 'device'> | undefined> {
  const { loadTrainingSettings, loraSchema, measuredDevicesSchema, runCli, trainingOutlook } =
    await import('../engine.js');
  const chosen = chosenSettings(vscode.Uri.file(repository.root));
  const settings = await loadTrainingSettings(repository.root, chosen);
  const request = { cli: context.cli, repoRoot: repository.root, args: ['devices', '--json'] };
  const { devices } = await withCancellableProgress(t('Measuring the devices'), context.lifetime, (signal) =>
    runCli(request, measuredDevicesSchema, signal),
  );
  const measured = devices.flatMap(({ name, gflops, decodedGigabytes }) =>
    gflops === null || decodedGigabytes === null ? [] : [{ name, gflops, decodedGigabytes }],
  );
  const places = { repoRoot: repository.root, stateFolder: repository.stateFolder };
  // Each model has defaults of its own.
  const outlookOf: OutlookOf = async (changed) =>
    trainingOutlook(places, await loadTrainingSettings(repository.root, { ...chosen, ...changed }), measured);

  const model = await pickModel(context, repository, settings, outlookOf);
  if (model === undefined) return undefined;
  const adapter = (await outlookOf({ model }))?.adapter ?? null;
  const lora = await pickTrained(settings, loraSchema, adapter, (chosen) => outlookOf({ model, lora: chosen }));
  if (lora === undefined) return undefined;
  const device = await pickDevice(
    await outlookOf({ model, lora }),
    measured.map(({ name }) => name),
    settings.device,
  );
  return device && { model, lora, device };
}
