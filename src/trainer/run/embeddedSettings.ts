import type { SettingsInput } from './settings.js';

/**
 * What a training of the embedded policy takes where neither file nor flags say otherwise: docs/embedded-study.md tells what was
 * measured. It is small, so it learns with a rate that would break a larger one; similarity does not count, because where no rollout
 * of a group mends the bug, their wrong changes differ in it by chance, and that would be all that the group teaches.
 */
export const embeddedDefaults = {
  steps: 16,
  tasksPerStep: 4,
  groupSize: 8,
  maxTurns: 14,
  learningRate: 3e-4,
  warmStartEpochs: 4,
  reward: { similarity: 0 },
  shaping: { toolUse: 0.5, rightTool: 0, givenUp: 0.5 },
  curriculum: { order: 'adaptive' },
  algorithm: { advantage: 'gigpo' },
} as const satisfies SettingsInput;

/** Fills in what was not chosen: a section of which something was, and what others decide, is as everywhere. */
export function withEmbeddedDefaults(chosen: SettingsInput): SettingsInput {
  const isOpen = (name: keyof typeof embeddedDefaults) => {
    if (name === 'steps' && (chosen.stages?.length ?? 0) > 0) return false;
    if (name === 'shaping' && chosen.judge?.url !== undefined) return false;
    const value = chosen[name];
    return value === undefined || (typeof value === 'object' && Object.keys(value).length === 0);
  };
  const names = Object.keys(embeddedDefaults) as (keyof typeof embeddedDefaults)[];
  const filledIn = names.filter(isOpen).map((name) => [name, embeddedDefaults[name]]);
  return { ...chosen, ...Object.fromEntries(filledIn) };
}
