import * as vscode from 'vscode';
import type { Outlook } from '../../trainer/estimate/outlook.js';
import type { Settings } from '../../trainer/run/settings.js';
import { pickOne } from '../quickPick.js';
import { t } from '../translate.js';
import { basisText, deviceOutlook, estimatedFor, notFetchedText, outlookOn } from './outlookText.js';

/** A device; without one, what the estimates rest on. */
type DeviceItem = vscode.QuickPickItem & { readonly device?: Settings['device'] };

/** Asks for a device, the one that is set first; undefined where the user left without an answer. */
export async function pickDevice(
  outlook: Outlook | null,
  measured: readonly Settings['device'][],
  set: Settings['device'],
): Promise<Settings['device'] | undefined> {
  const detailOf = (device: Settings['device']) => {
    const onDevice = outlook && outlookOn(outlook, device);
    return onDevice ? deviceOutlook(onDevice) : notFetchedText();
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
        { label: t('About these figures'), iconPath: new vscode.ThemeIcon('info'), detail: basisText(outlook) },
      ]
    : [];
  const options = { title: t('Device of the training'), ...(outlook && { placeHolder: estimatedFor(outlook) }) };
  for (;;) {
    const picked = await pickOne([...items, ...about], options);
    // What they rest on is read, and chosen is still nothing.
    if (!picked || picked.device !== undefined) return picked?.device;
  }
}
