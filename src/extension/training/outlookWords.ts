import type { QuickPickItem } from 'vscode';
import type { Outlook } from '../../trainer/estimate/outlook.js';
import type { Settings } from '../../trainer/run/settings.js';
import { WhetstoneError } from '../../trajectory/errors.js';
import { lineOf } from '../lineOf.js';
import { t } from '../translate.js';
import { deviceOutlook, notFetchedText, outlookOn, parametersText } from './outlookText.js';

/** What a choice says of the training that it would make, on the device that is set; or what is wrong with it. */
export async function outlookWords(
  outlookOf: () => Promise<Outlook | null>,
  set: Settings['device'],
): Promise<Pick<QuickPickItem, 'description' | 'detail'>> {
  try {
    const outlook = await outlookOf();
    if (outlook === null) return { detail: notFetchedText() };
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
