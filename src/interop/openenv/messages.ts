import { z } from 'zod';
import { playTermsSchema } from '../../trainer/workers/playTerms.js';
import { parseAssistantText } from '../../trainer/text/toolCalls.js';
import type { AssistantMessage } from '../../trajectory/message.js';

/** Codes of errors, as openenv 0.10 has them (`openenv.core.env_server.types.WSErrorCode`). */
export type ErrorCode =
  | 'INVALID_JSON'
  | 'UNKNOWN_TYPE'
  | 'VALIDATION_ERROR'
  | 'EXECUTION_ERROR'
  | 'CAPACITY_REACHED'
  | 'FACTORY_ERROR'
  | 'SESSION_ERROR';

/** What is said to a client in an error's frame. */
export class ProtocolError extends Error {
  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly details: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
    this.name = 'ProtocolError';
  }
}

const anything = z.record(z.string(), z.unknown());

/** One turn of the policy: its text as it was sampled, or what was already parsed out of it. */
export const actionSchema = z
  .strictObject({
    text: z
      .string()
      .optional()
      .describe('The turn as sampled; calls stand in <tool_call> tags. In the place of the other fields.'),
    content: z.string().optional().describe('The text of the turn, without its calls.'),
    tool_calls: z
      .array(z.strictObject({ id: z.string().optional(), name: z.string(), arguments: anything.default({}) }))
      .max(1024)
      .optional()
      .describe('Calls of tools. A turn without any ends the episode.'),
    thinking: z.string().optional().describe('The thought that the turn opened with.'),
    malformed_call: z.string().optional().describe('What was wrong with something meant as a call, after the others.'),
    finish: z
      .literal(true)
      .optional()
      .describe('Alone: no turn is played, and the episode is graded as it stands (one that is over, told again).'),
    metadata: anything.optional(),
  })
  .refine(
    ({ text, content, tool_calls, thinking, malformed_call, finish }) => {
      const isParsed = content !== undefined || tool_calls !== undefined;
      const isAlone = !isParsed && thinking === undefined && malformed_call === undefined;
      return text === undefined && finish === undefined ? isParsed : isAlone && (text === undefined) === !!finish;
    },
    {
      message: 'give either `text`, or `tool_calls` and `content`, or `finish`',
    },
  );
export type Action = z.infer<typeof actionSchema>;

/** Parameters of a reset; others are ignored, as OpenEnv's servers do. */
export const resetSchema = z.object({
  seed: z.int().nonnegative().nullish(),
  episode_id: z.string().max(255).nullish(),
  task_id: z
    .string()
    .nullish()
    .describe('Which task; without it the seed chooses, and without a seed the next one is played.'),
  split: z.enum(['train', 'heldout']).nullish().describe('Where the choice is made from; `train` where not given.'),
  whetstone: playTermsSchema.optional().describe("For a trainer of Whetstone's: how it wants the episode played."),
});
export type Reset = z.infer<typeof resetSchema>;

/** Schemas of what is answered: only ever written down, in `/schema`. */
const observationSchema = z.object({
  task_id: z.string(),
  messages: z
    .array(
      z.object({
        role: z.string(),
        content: z.string(),
        name: z.string().optional(),
        tool_call_id: z.string().optional(),
      }),
    )
    .describe('At a reset the prompt, after a step what the tools answered.'),
  tools: z.array(anything).optional().describe('At a reset: the tools, as chat templates take them.'),
  stop_reason: z.string().nullable(),
  grade: anything.nullable().describe('Every component of the reward, once the episode is over.'),
  metadata: anything,
});
const stateSchema = z.object({
  episode_id: z.string().nullable(),
  step_count: z.int().nonnegative(),
  task_id: z.string().nullable(),
  done: z.boolean(),
});

export interface Observation {
  readonly observation: Readonly<z.infer<typeof observationSchema>>;
  readonly reward: number | null;
  readonly done: boolean;
}
export type State = z.infer<typeof stateSchema>;

export const schemas = () => ({
  action: z.toJSONSchema(actionSchema, { io: 'input' }),
  observation: z.toJSONSchema(observationSchema),
  state: z.toJSONSchema(stateSchema),
});

const incomingSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('reset'), data: resetSchema.default({}) }),
  z.strictObject({ type: z.literal('step'), data: actionSchema }),
  z.strictObject({ type: z.literal('state') }),
  z.strictObject({ type: z.literal('close') }),
]);
export type Incoming = z.infer<typeof incomingSchema>;

const knownTypes = incomingSchema.options.map(({ shape }) => shape.type.value as string);

/** A client's frame. Throws ProtocolError with the code that says what is wrong with it. */
export function parseIncoming(text: string): Incoming {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new ProtocolError('INVALID_JSON', `Invalid JSON: ${(error as Error).message}`);
  }
  const type = typeof value === 'object' && value !== null && 'type' in value ? value.type : '';
  if (typeof type !== 'string' || !knownTypes.includes(type)) {
    throw new ProtocolError('UNKNOWN_TYPE', `Unknown message type: ${String(type).slice(0, 60)}`);
  }
  return valid(incomingSchema, value);
}

/** The value as the schema has it. Throws ProtocolError with every issue. */
export function valid<T>(schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const errors = result.error.issues.slice(0, 10).map(({ path, message }) => ({ loc: path.map(String), msg: message }));
  throw new ProtocolError('VALIDATION_ERROR', 'Invalid message', { errors });
}

/** The turn that an action stands for. */
export function messageOf(action: Action): AssistantMessage {
  if (action.text !== undefined) return parseAssistantText(action.text);
  const content = action.content ?? '';
  const toolCalls = (action.tool_calls ?? []).map((call, index) => ({ ...call, id: call.id ?? `call-${index}` }));
  const { thinking, malformed_call: malformedCall } = action;
  return {
    role: 'assistant',
    content,
    ...(thinking === undefined ? {} : { thinking }),
    toolCalls,
    ...(malformedCall === undefined ? {} : { malformedCall }),
    raw: content,
  };
}
