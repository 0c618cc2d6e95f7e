/**
 * What a training of the embedded policy takes where neither file nor flags say otherwise: docs/embedded-study.md tells what was
 * measured. Similarity does not count, because where no rollout of a group mends the bug, their wrong changes differ in it by chance,
 * and that would be all that the group teaches.
 */
export const embeddedDefaults = {
  steps: 8,
  tasksPerStep: 4,
  groupSize: 8,
  maxTurns: 14,
  learningRate: 1e-4,
  warmStartEpochs: 4,
  reward: { similarity: 0 },
  shaping: { toolUse: 0.5, rightTool: 0, givenUp: 0.5 },
  curriculum: { order: 'adaptive' },
  algorithm: { advantage: 'gigpo' },
} as const;
