import type { Settings } from '../run/settings.js';
import { isPlayed, stageOfStep } from './stages.js';

/**
 * How many updates are behind the weights that play a step: as many fewer than those before the step's own as `maxStaleness` says, but
 * no stage is played by weights from before its beginning. A pure function of the step, whoever is faster, player or learner, so that
 * a resumed run plays the same. What chooses the step's tasks knows the results up to there.
 */
export function policyStepOf(settings: Pick<Settings, 'stages' | 'steps' | 'asynchrony'>, step: number): number {
  const { firstStep, settings: stage } = stageOfStep(settings, step);
  const lag = isPlayed(stage) ? settings.asynchrony.maxStaleness : 0;
  return Math.max(firstStep - 1, step - 1 - lag);
}

/** Whether steps are played while the learner learns. */
export const playsAhead = ({ asynchrony }: Pick<Settings, 'asynchrony'>) => asynchrony.maxStaleness > 0;
