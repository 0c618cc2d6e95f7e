import { z } from 'zod';
import { projections } from '../model/lora.js';

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
