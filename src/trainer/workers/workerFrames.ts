import { z } from 'zod';
import type { EpisodeCounters } from '../../env/episodeTypes.js';
import type { AssistantMessage } from '../../trajectory/message.js';
import { gradeSchema, statisticsSchema, stopReasonSchema } from '../run/trajectoryLine.js';
import { workerProtocol } from './playTerms.js';

const countersSchema: z.ZodType<EpisodeCounters> = statisticsSchema
  .omit({ sampledTokens: true, totalTokens: true })
  .extend({ thoughtTurns: z.int().nonnegative() });

const parametersSchema = z.record(z.string(), z.unknown());
const text = z.object({ content: z.string() });

/** What a worker's `/metadata` says of it. */
export const workerFactsSchema = z.object({
  whetstone: z.object({
    protocol: z.literal(workerProtocol, { error: 'another version of Whetstone' }),
    sessions: z.int().positive(),
    sandbox: z.string(),
  }),
});

/** The answer to a reset. */
export const openingSchema = z.object({
  observation: z.object({
    messages: z.tuple([text.extend({ role: z.literal('system') }), text.extend({ role: z.literal('user') })]),
    tools: z.array(
      z.object({
        type: z.literal('function'),
        function: z.object({ name: z.string(), description: z.string(), parameters: parametersSchema }),
      }),
    ),
  }),
});

const toolAnswer = text.extend({ role: z.literal('tool'), name: z.string(), tool_call_id: z.string() });

/** The answer to a step, and to the wish to finish. */
export const playedSchema = z.object({
  observation: z.object({
    messages: z.array(toolAnswer),
    stop_reason: stopReasonSchema.nullable(),
    grade: gradeSchema.nullable(),
    metadata: z.object({ counters: countersSchema, patch: z.string().optional() }),
  }),
  done: z.boolean(),
});
export type Played = z.infer<typeof playedSchema>;

const errorSchema = z.object({ message: z.string(), code: z.string(), kind: z.string().optional() });
export type WorkerErrorData = z.infer<typeof errorSchema>;

/** A frame that a worker sends. */
export const frameSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('observation'), data: z.record(z.string(), z.unknown()) }),
  z.object({ type: z.literal('error'), data: errorSchema }),
]);

/** Asks for the grade of the episode as it stands. */
export const finishFrame = { type: 'step', data: { finish: true } };

/** A turn as an action, already parsed as the policy's tool format has it. */
export function stepFrame({ content, thinking, toolCalls, malformedCall }: AssistantMessage): object {
  return {
    type: 'step',
    data: {
      content,
      tool_calls: toolCalls,
      ...(thinking === undefined ? {} : { thinking }),
      ...(malformedCall === undefined ? {} : { malformed_call: malformedCall }),
    },
  };
}
