import type { StageSettings } from '../run/routeSettings.js';
import type { Settings } from '../run/settings.js';

/** A stage and the run's steps that are its own. */
export interface StagePlan {
  readonly settings: StageSettings;
  /** 0 for the first. */
  readonly index: number;
  readonly firstStep: number;
  readonly lastStep: number;
}

/** The stages of a run in their order; without any in the settings all steps are the policy gradient's. */
export function stagePlans({ stages, steps }: Pick<Settings, 'stages' | 'steps'>): StagePlan[] {
  const all: readonly StageSettings[] = stages.length > 0 ? stages : [{ method: 'policy-gradient', steps }];
  let before = 0;
  return all.map((settings, index) => {
    const plan = { settings, index, firstStep: before + 1, lastStep: before + settings.steps };
    before = plan.lastStep;
    return plan;
  });
}

/** Throws where the run has no such step. */
export function stageOfStep(settings: Pick<Settings, 'stages' | 'steps'>, step: number): StagePlan {
  const found = stagePlans(settings).find(({ firstStep, lastStep }) => step >= firstStep && step <= lastStep);
  if (found === undefined) throw new Error(`internal: step ${step} belongs to no stage`);
  return found;
}

/** Whether a stage ends with the step: its weights are what the next one's reference is. */
export const isEndOfStage = (settings: Pick<Settings, 'stages' | 'steps'>, step: number) =>
  stagePlans(settings).some(({ lastStep }) => lastStep === step);

/** Whether the steps of a stage play rollouts, or learn from recorded ones. */
export const isPlayed = (stage: StageSettings) => !('recorded' in stage && stage.recorded);

/** Losses that hold the policy against a reference. */
export const needsReference = ({ klCoefficient, stages }: Pick<Settings, 'klCoefficient' | 'stages'>) =>
  klCoefficient > 0 || stages.some(({ method }) => method === 'dpo' || method === 'ipo' || method === 'kto');
