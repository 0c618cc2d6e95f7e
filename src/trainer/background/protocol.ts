/**
 * Between the background process and its clients: JSON lines over a local socket (a named pipe on Windows). The token
 * in process.json must come first. Everything lasting is in the run directory; the socket only carries wishes and a
 * nudge that something new was written.
 */
import { z } from 'zod';
import { saidFields, saidSchema } from '../../trajectory/saidSchema.js';
import { resumeChangesSchema } from '../run/resumeChanges.js';
import { errorKindSchema } from '../run/runSchemas.js';
import { settingsSchema } from '../run/settings.js';

export const clientMessageSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('hello'), token: z.string() }),
  z.object({ type: z.literal('pause') }),
  z.object({ type: z.literal('resume') }),
  z.object({ type: z.literal('stop') }),
]);
export type ClientMessage = z.infer<typeof clientMessageSchema>;

export const serverMessageSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('welcome'), runId: z.string(), pid: z.int() }),
  z.object({ type: z.literal('changed') }),
  z.object({ type: z.literal('error'), message: z.string() }),
  /** The last word, for the case that the record cannot take it (the disk is full). */
  z.object({ type: z.literal('ended'), ...saidFields, errorKind: errorKindSchema }),
]);
export type ServerMessage = z.infer<typeof serverMessageSchema>;

/** `process.json` in the run directory. */
export const processRecordSchema = z.object({
  pid: z.int(),
  startedAt: z.string(),
  socket: z.string(),
  token: z.string(),
});
export type ProcessRecord = z.infer<typeof processRecordSchema>;

/** The first line that a background process reads from its standard input: what to train. */
export const trainingRequestSchema = z.object({
  repoRoot: z.string(),
  settings: settingsSchema,
  /** Id of a run to go on with; its own settings then count. */
  resume: z.string().optional(),
  /** What the resumed run does otherwise from here on. */
  changes: resumeChangesSchema.optional(),
  /** `attached`: the training stops when its standard input closes. `detached`: it outlives who started it. */
  owner: z.enum(['attached', 'detached']),
});
export type TrainingRequest = z.infer<typeof trainingRequestSchema>;

/** The one line that it writes to its standard output: that it trains, or why it does not. */
export const startReportSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('started'), runId: z.string(), runFolder: z.string() }),
  z.object({
    type: z.literal('refused'),
    kind: errorKindSchema,
    words: saidSchema,
    remedy: saidSchema,
  }),
]);
export type StartReport = z.infer<typeof startReportSchema>;
