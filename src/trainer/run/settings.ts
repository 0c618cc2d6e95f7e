import { z } from 'zod';

/** Everything that decides a run, with the defaults; `whetstone.config.json` and the command line's flags override. */
export const settingsSchema = z.strictObject({
  /** `embedded`, or a folder in Hugging Face layout. */
  model: z.string().default('embedded'),
  device: z.enum(['auto', 'cpu', 'webgpu']).default('auto'),
  sandbox: z.enum(['auto', 'bubblewrap', 'unconfined']).default('auto'),
  seed: z.int().nonnegative().default(1),
  steps: z.int().nonnegative().default(20),
  tasksPerStep: z.int().positive().default(8),
  /** G: rollouts of one task in one step. */
  groupSize: z.int().min(2).default(8),
  temperature: z.number().positive().default(1),
  topP: z.number().positive().max(1).default(1),
  topK: z.int().nonnegative().default(0),
  maxTurns: z.int().positive().default(10),
  maxTokensPerTurn: z.int().positive().default(160),
  episodeSeconds: z.number().positive().default(120),
  testSeconds: z.number().positive().default(60),
  learningRate: z.number().nonnegative().default(2e-5),
  weightDecay: z.number().nonnegative().default(0),
  maxGradientNorm: z.number().nonnegative().default(1),
  clipLow: z.number().positive().default(0.2),
  clipHigh: z.number().positive().default(0.2),
  /** beta of the KL term to the reference policy (k3); 0 leaves it out. */
  klCoefficient: z.number().nonnegative().default(0.02),
  /** Optimizer updates over one step's rollouts (mu). */
  iterations: z.int().positive().default(1),
  /** Weights of the reward's components; the outcome (tests) is at least half. */
  reward: z
    .strictObject({
      tests: z.number().nonnegative().default(1),
      similarity: z.number().nonnegative().default(0.2),
      format: z.number().nonnegative().default(0.1),
    })
    .prefault({}),
  /** Held-out tasks played before and after; 0 plays them all. */
  evaluationTasks: z.int().nonnegative().default(0),
  evaluationSamples: z.int().positive().default(1),
  checkpointEvery: z.int().positive().default(5),
  /** Episodes side by side. */
  concurrency: z.int().positive().default(16),
  /** Fixes the schedule and the threads, so that the CPU gives the same bits every time. */
  deterministic: z.boolean().default(false),
});

export type Settings = z.infer<typeof settingsSchema>;
