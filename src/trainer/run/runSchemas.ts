import { z } from 'zod';
import type { ErrorKind } from '../../trajectory/errors.js';
import { findingSchema } from '../doctor/finding.js';
import type { RunConfig, RunEvent } from './runRecord.js';
import { settingsSchema } from './settings.js';
import { tokenBlockSchema } from './trajectoryLine.js';

const count = z.int().nonnegative();
const stage = z.enum(['tasks', 'evaluate-before', 'warm-start', 'train', 'evaluate-after']);
const at = z.string();
export const errorKindSchema: z.ZodType<ErrorKind> = z.enum(['bad-input', 'failed', 'infrastructure', 'cancelled']);

export const runConfigSchema: z.ZodType<RunConfig> = z.object({
  version: z.literal(1),
  runId: z.string(),
  createdAt: z.string(),
  repoRoot: z.string(),
  headCommit: z.string(),
  settings: settingsSchema,
  taskIds: z.object({ train: z.array(z.string()), heldout: z.array(z.string()) }),
  sandbox: z.string(),
});

export const runEventSchema: z.ZodType<RunEvent> = z.discriminatedUnion('type', [
  z.object({ at, type: z.literal('started'), pid: z.int(), resumedFromStep: count.nullable() }),
  z.object({ at, type: z.literal('stage'), stage }),
  z.object({ at, type: z.literal('progress'), stage, message: z.string(), done: count, total: count }),
  z.object({
    at,
    type: z.literal('evaluation'),
    step: count,
    split: z.enum(['train', 'heldout']),
    success: z.object({ rate: z.number(), interval: z.tuple([z.number(), z.number()]), n: count }),
    meanReward: z.number(),
    validCallRate: z.number(),
    trajectoryIds: z.array(z.string()),
  }),
  z.object({
    at,
    type: z.literal('warm-start'),
    update: count,
    updates: count,
    metrics: z.record(z.string(), z.number()),
  }),
  z.object({
    at,
    type: z.literal('step'),
    step: count,
    metrics: z.record(z.string(), z.number()),
    groups: z.array(
      z.object({ taskId: z.string(), trajectoryIds: z.array(z.string()), advantages: z.array(z.number()) }),
    ),
  }),
  z.object({ at, type: z.literal('finding'), step: count, finding: findingSchema }),
  z.object({ at, type: z.literal('checkpoint'), step: count, folder: z.string() }),
  z.object({ at, type: z.enum(['paused', 'resumed']) }),
  z.object({
    at,
    type: z.literal('finished'),
    status: z.enum(['completed', 'stopped', 'failed']),
    message: z.string(),
    errorKind: errorKindSchema.optional(),
  }),
]);

/** A line of `learned.jsonl`; its four arrays are in `learned.bin`, in the order of LearnedTokens. */
export const learnedLineSchema = z.object({ trajectoryId: z.string(), step: count, block: tokenBlockSchema });
export type LearnedLine = z.infer<typeof learnedLineSchema>;
