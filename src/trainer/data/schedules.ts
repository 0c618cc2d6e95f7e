import type { Settings } from '../run/settings.js';

/** Turns that an episode of the step may have: they grow in a straight line from `horizonStart` to `maxTurns`. */
export function turnsAt(settings: Pick<Settings, 'curriculum' | 'maxTurns' | 'steps'>, step: number): number {
  const { horizonStart, horizonSteps } = settings.curriculum;
  if (horizonStart === 0 || horizonStart >= settings.maxTurns) return settings.maxTurns;
  const rising = horizonSteps === 0 ? Math.ceil(settings.steps / 2) : horizonSteps;
  const share = rising <= 1 ? 1 : Math.min(1, (step - 1) / (rising - 1));
  return Math.round(horizonStart + share * (settings.maxTurns - horizonStart));
}

/** Sampling temperature of the step: it goes in a straight line from `temperature` to `temperatureEnd`. */
export function temperatureAt(settings: Pick<Settings, 'exploration' | 'temperature' | 'steps'>, step: number): number {
  const { temperatureEnd } = settings.exploration;
  if (temperatureEnd === 0 || settings.steps <= 1) return settings.temperature;
  return settings.temperature + ((step - 1) / (settings.steps - 1)) * (temperatureEnd - settings.temperature);
}

/** Probability with which a turn of the step begins with a forced tool: it goes in a straight line from `toolEpsilon` to `toolEpsilonEnd`. */
export function toolEpsilonAt({ exploration, steps }: Pick<Settings, 'exploration' | 'steps'>, step: number): number {
  const { toolEpsilon, toolEpsilonEnd = toolEpsilon } = exploration;
  if (steps <= 1) return toolEpsilon;
  return toolEpsilon + ((step - 1) / (steps - 1)) * (toolEpsilonEnd - toolEpsilon);
}

/** Temperature of one rollout of a group: the group's lie evenly around that of the step, the lowest first. */
export function temperatureOfSample(temperature: number, spread: number, sample: number, groupSize: number): number {
  if (spread === 0 || groupSize === 1) return temperature;
  return temperature * (1 + spread * ((2 * (sample % groupSize)) / (groupSize - 1) - 1));
}
