import { z } from 'zod';
import { projections } from '../model/lora.js';
import { precisions } from '../model/precision.js';

export const loraSchema = z.strictObject({
  rank: z
    .int()
    .nonnegative()
    .max(1024)
    .default(0)
    .describe('Rank of the adapter that is trained instead of all parameters (LoRA); 0 trains all parameters.'),
  alpha: z.number().positive().default(32).describe('What the adapter adds counts alpha / rank.'),
  targets: z
    .array(z.enum(projections))
    .min(1)
    .default([...projections])
    .describe('The projections of every layer that the adapter changes.'),
});
export type LoraSettings = z.infer<typeof loraSchema>;

export const optimizerSchema = z.strictObject({
  beta1: z.number().min(0).lt(1).default(0.9).describe('Decay of the mean of gradients.'),
  beta2: z.number().min(0).lt(1).default(0.999).describe('Decay of the mean of squared gradients.'),
  epsilon: z.number().positive().default(1e-8).describe('What keeps a step finite where gradients are tiny.'),
  schedule: z
    .enum(['constant', 'linear', 'cosine'])
    .default('constant')
    .describe('How the learning rate falls after the warm-up, over the steps of the run.'),
  warmupSteps: z.int().nonnegative().default(0).describe('Steps in which the learning rate rises to its full height.'),
  finalShare: z.number().min(0).max(1).default(0).describe('The share of its height that the learning rate falls to.'),
});
export type OptimizerSettings = z.infer<typeof optimizerSchema>;

export const precisionSchema = z
  .enum(precisions)
  .default('float32')
  .describe(
    "In what the model's matrices are kept and multiplied; `float16` where an adapter is trained (`lora`), which stays float32, on a device that has it.",
  );

export const activationMemorySchema = z
  .int()
  .min(1)
  .default(1024)
  .describe('Mebibytes of results that the learner keeps for the backward pass; with less, more is computed twice.');

/** The share of the learning rate's height at a step (1 for the first) of a run. */
export function learningRateShare(optimizer: OptimizerSettings, steps: number, step: number): number {
  const { schedule, warmupSteps, finalShare } = optimizer;
  if (step <= warmupSteps) return step / (warmupSteps + 1);
  if (schedule === 'constant') return 1;
  const progress = Math.min(1, (step - 1 - warmupSteps) / Math.max(1, steps - warmupSteps));
  const falling = schedule === 'linear' ? 1 - progress : (1 + Math.cos(Math.PI * progress)) / 2;
  return finalShare + (1 - finalShare) * falling;
}
