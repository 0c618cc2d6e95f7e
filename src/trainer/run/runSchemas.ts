import { z } from 'zod';
import type { ErrorKind } from '../../trajectory/errors.js';
import { saidFields } from '../../trajectory/saidSchema.js';
import { findingSchema } from '../doctor/finding.js';
import { stageMethods } from './routeSettings.js';
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

const settingValue = z.union([z.string(), z.number(), z.boolean()]);
const method = z.enum(stageMethods);
const replayedGroup = z.object({
  fromStep: count,
  taskId: z.string(),
  trajectoryIds: z.array(z.string()),
  why: z.string(),
});

export const runEventSchema: z.ZodType<RunEvent> = z.discriminatedUnion('type', [
  z.object({ at, type: z.literal('started'), pid: z.int(), resumedFromStep: count.nullable() }),
  z.object({
    at,
    type: z.literal('changed'),
    changes: z.array(z.object({ setting: z.string(), from: settingValue, to: settingValue })),
  }),
  z.object({ at, type: z.literal('stage'), stage }),
  z.object({ at, type: z.literal('progress'), stage, ...saidFields, done: count, total: count }),
  z.object({
    at,
    type: z.literal('evaluation'),
    step: count,
    split: z.enum(['train', 'heldout']),
    success: z.object({ rate: z.number(), interval: z.tuple([z.number(), z.number()]), n: count }),
    meanReward: z.number(),
    validCallRate: z.number(),
    passAtK: z.record(z.string(), z.number()).optional(),
    metrics: z.record(z.string(), z.number()).optional(),
    outcomes: z.array(z.object({ taskId: z.string(), solved: z.array(z.boolean().nullable()) })).optional(),
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
    type: z.literal('plan'),
    step: count,
    round: count,
    policyStep: count.optional(),
    method,
    temperature: z.number(),
    maxTurns: count,
    tasks: z.array(z.object({ taskId: z.string(), why: z.string(), success: z.number().nullable() })),
    replayed: z.array(replayedGroup),
  }),
  z.object({
    at,
    type: z.literal('step'),
    step: count,
    method: method.optional(),
    metrics: z.record(z.string(), z.number()),
    groups: z.array(
      z.object({
        taskId: z.string(),
        trajectoryIds: z.array(z.string()),
        advantages: z.array(z.number()),
        rewards: z.array(z.number().nullable()).optional(),
        played: count.optional(),
        resolved: count.optional(),
      }),
    ),
    replayed: z.array(replayedGroup.extend({ advantages: z.array(z.number()) })).optional(),
  }),
  z.object({
    at,
    type: z.literal('lesson'),
    step: count,
    taskId: z.string(),
    trajectoryId: z.string(),
    text: z.string(),
  }),
  z.object({ at, type: z.literal('finding'), step: count, finding: findingSchema }),
  z.object({ at, type: z.literal('notice'), message: z.string() }),
  z.object({ at, type: z.literal('checkpoint'), step: count, folder: z.string() }),
  z.object({ at, type: z.enum(['paused', 'resumed']) }),
  z.object({
    at,
    type: z.literal('finished'),
    status: z.enum(['completed', 'stopped', 'failed']),
    ...saidFields,
    errorKind: errorKindSchema.optional(),
  }),
]);

/** A line of `learned.jsonl`; its four arrays are in `learned.bin`, in the order of LearnedTokens. */
export const learnedLineSchema = z.object({ trajectoryId: z.string(), step: count, block: tokenBlockSchema });
export type LearnedLine = z.infer<typeof learnedLineSchema>;
