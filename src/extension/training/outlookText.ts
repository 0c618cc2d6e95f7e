import type { Outlook } from '../../trainer/estimate/outlook.js';
import type { Settings } from '../../trainer/run/settings.js';
import { ofEngine, t } from '../translate.js';

type OnDevice = Outlook['devices'][number];

/** What a training would take with these of its settings changed; null where the model was not fetched yet. */
export type OutlookOf = (changed: Partial<Settings>) => Promise<Outlook | null>;

export const outlookOn = ({ auto, devices }: Outlook, device: Settings['device']): OnDevice | undefined =>
  devices.find(({ name }) => name === (device === 'auto' ? auto : device));

export const notFetchedText = (): string => t('Not fetched yet, so there is no estimate.');

/** About how much a training would take on a device, or why it refuses one, in one line. */
export const deviceOutlook = ({ memory, time, refusal }: OnDevice): string =>
  refusal !== null
    ? ofEngine(refusal)
    : t(
        'about {0} of memory · a step about {1} · the training about {2}',
        memoryText(memory.total),
        durationText(time.step),
        durationText(time.training),
      );

export const parametersText = ({ parameters, trained }: Pick<Outlook, 'parameters' | 'trained'>): string =>
  parameters === trained
    ? t('{0} million parameters', millions(parameters))
    : t('{0} million parameters, {1} million trained', millions(parameters), millions(trained));

/** What the estimates are for, short enough for the line of an empty box. */
export const estimatedFor = ({ episode: { run, tokens } }: Pick<Outlook, 'episode'>): string =>
  run === null
    ? t('Estimated for episodes as long as they may be ({0} tokens)', Math.round(tokens))
    : t('Estimated for episodes like those of the newest run ({0} tokens)', Math.round(tokens));

/** What the estimates rest on, and what they leave out. */
export function basisText({ episode, heldoutEpisodes }: Pick<Outlook, 'episode' | 'heldoutEpisodes'>): string {
  const missing = [
    ...(episode.besideSeconds === null ? [t('their tests')] : []),
    ...(heldoutEpisodes === null ? [t('evaluations')] : []),
  ];
  const basis = t("From the model's shape, the settings and the speed that was just measured.");
  return missing.length === 0 ? basis : `${basis} ${t('Not counted: {0}.', missing.join(', '))}`;
}

const millions = (count: number): string => twoDigits(count / 1e6);

function memoryText(bytes: number): string {
  const mebibytes = bytes / 2 ** 20;
  return mebibytes < 1000 ? `${twoDigits(mebibytes)} MiB` : `${twoDigits(mebibytes / 1024)} GiB`;
}

function durationText(seconds: number): string {
  if (seconds < 100) return t('{0} s', twoDigits(seconds));
  return seconds < 6000 ? t('{0} min', twoDigits(seconds / 60)) : t('{0} h', twoDigits(seconds / 3600));
}

/** An estimate deserves no more. */
const twoDigits = (value: number): string => String(Number(value.toPrecision(2)));
