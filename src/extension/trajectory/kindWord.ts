import type { Trajectory } from '../../trajectory/trajectory.js';
import { t } from '../translate.js';

const words: Readonly<Record<Trajectory['kind'], () => string>> = {
  rollout: () => t('rollout'),
  evaluation: () => t('evaluation'),
  demonstration: () => t('demonstration'),
};

/** What kind of episode it was. */
export const kindWord = (kind: Trajectory['kind']): string => words[kind]();
