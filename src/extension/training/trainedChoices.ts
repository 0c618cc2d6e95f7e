import type { Settings } from '../../trainer/run/settings.js';
import { t } from '../translate.js';

type Lora = Settings['lora'];

/** Ranks that are offered beside what is set. */
const usualRanks = [8, 32];

/** A part of the model that can be trained, as the setting `lora` says it. */
export interface TrainedChoice {
  readonly lora: Lora;
  readonly label: string;
  /** What else the setting says; empty where all parameters are trained. */
  readonly words: string;
}

/**
 * What can be trained of a model: first what is set. Where the model is an adapter with the settings `own`, that is this adapter
 * and no other, or the whole model with the adapter in it.
 */
export function trainedChoices(set: Lora, own: Lora | null): TrainedChoice[] {
  const all = { ...set, rank: 0 };
  if (own !== null) {
    const goOn = { lora: own, label: t('The adapter itself, of rank {0}', own.rank), words: adapterWords(own) };
    const merge = { lora: all, label: t('All parameters, with the adapter merged into them'), words: '' };
    return set.rank === 0 ? [merge, goOn] : [goOn, merge];
  }
  const ranks = new Set([set.rank, 0, ...usualRanks]);
  return [...ranks].map((rank) => {
    const lora = { ...set, rank };
    if (rank === 0) return { lora, label: t('All parameters'), words: '' };
    return { lora, label: t('An adapter of rank {0}', rank), words: adapterWords(lora) };
  });
}

const adapterWords = ({ alpha, targets }: Lora): string =>
  `alpha ${Number(alpha.toPrecision(6))} · ${targets.join(', ')}`;
