import * as vscode from 'vscode';
import type { Outlook } from '../../trainer/estimate/outlook.js';
import type { loraSchema as LoraSchema } from '../../trainer/run/learnerSettings.js';
import type { Settings } from '../../trainer/run/settings.js';
import { pickMany, pickOne } from '../quickPick.js';
import { t } from '../translate.js';
import { outlookWords } from './outlookWords.js';
import { trainedChoices } from './trainedChoices.js';

type Lora = Settings['lora'];
/** What is trained; without it, the way to an adapter that is not in the list. */
type TrainedItem = vscode.QuickPickItem & { readonly lora?: Lora };
type Numbers = 'rank' | 'alpha';

/**
 * Asks what of the model is trained, each choice with about how much memory and time it takes; undefined where the user left
 * without an answer.
 * @param loraSchema that of the settings, which says what an adapter can be
 * @param own the settings of the adapter that the model is; null where it is none
 */
export async function pickTrained(
  settings: Settings,
  loraSchema: typeof LoraSchema,
  own: Lora | null,
  outlookOf: (lora: Lora) => Promise<Outlook | null>,
): Promise<Lora | undefined> {
  const items = await Promise.all(
    trainedChoices(settings.lora, own).map(async ({ lora, label, words }): Promise<TrainedItem> => {
      const { description = '', detail } = await outlookWords(() => outlookOf(lora), settings.device);
      return { label, lora, description: [description, words].filter((part) => part !== '').join(' · '), detail };
    }),
  );
  const others: TrainedItem[] =
    own === null
      ? [
          { label: '', kind: vscode.QuickPickItemKind.Separator },
          { label: t('An adapter with other settings…'), iconPath: new vscode.ThemeIcon('settings-gear') },
        ]
      : [];
  const title = t('What the training changes');
  const picked = await pickOne([...items, ...others], { title, matchOnDescription: true });
  return picked && (picked.lora ?? (await nameAdapter(settings.lora, loraSchema)));
}

async function nameAdapter(set: Lora, { shape }: typeof LoraSchema): Promise<Lora | undefined> {
  const ask = async (what: Numbers, title: string, prompt: string, wrong: string): Promise<number | undefined> => {
    const isGood = (text: string) => Number(text) > 0 && shape[what].safeParse(Number(text)).success;
    const text = await vscode.window.showInputBox({
      title,
      prompt,
      value: set[what] > 0 ? String(set[what]) : '',
      validateInput: (entered) => (isGood(entered) ? undefined : wrong),
    });
    return text === undefined ? undefined : Number(text);
  };
  const rank = await ask(
    'rank',
    t('Rank of the adapter'),
    t('More can be learned with a higher rank, and it takes more memory.'),
    t('Give a whole number from 1 to {0}.', shape.rank.unwrap().maxValue ?? Infinity),
  );
  if (rank === undefined) return undefined;
  const alpha = await ask(
    'alpha',
    t('Alpha of the adapter'),
    t('What the adapter adds counts alpha / rank.'),
    t('Give a number above 0.'),
  );
  if (alpha === undefined) return undefined;
  const targets = await pickTargets(set.targets, shape.targets.unwrap().element.options);
  return targets && { rank, alpha, targets };
}

async function pickTargets(set: Lora['targets'], all: Lora['targets']): Promise<Lora['targets'] | undefined> {
  const items = all.map((target) => ({
    label: target,
    description: /^[qkvo]_/.test(target) ? t('attention') : t('feed-forward'),
    picked: set.includes(target),
    target,
  }));
  const options = { title: t('Projections that the adapter changes'), placeHolder: t('Choose at least one') };
  for (;;) {
    const picked = await pickMany(items, options);
    // An adapter that changes nothing could learn nothing.
    if (picked?.length !== 0) return picked?.map(({ target }) => target);
  }
}
