import { z } from 'zod';

/** Arguments of a call, which are JSON in a text. */
const argumentsSchema = z.string().transform((text, context) => {
  try {
    return z.record(z.string(), z.unknown()).parse(JSON.parse(text));
  } catch {
    context.addIssue({ code: 'custom', message: 'it is no JSON object' });
    return z.NEVER;
  }
});
const toolCallSchema = z.looseObject({
  id: z.string(),
  function: z.looseObject({ name: z.string(), arguments: argumentsSchema }),
});
const messageSchema = z.discriminatedUnion('role', [
  z.looseObject({ role: z.literal('system'), content: z.string() }),
  z.looseObject({ role: z.literal('user'), content: z.string() }),
  z.looseObject({
    role: z.literal('assistant'),
    content: z.string().nullish(),
    tool_calls: z.array(toolCallSchema).default([]),
  }),
  z.looseObject({ role: z.literal('tool'), tool_call_id: z.string(), content: z.string() }),
]);

/** A request for a chat completion in OpenAI's form, as far as an editor's model can be asked for it. */
export const chatRequestSchema = z.looseObject({
  model: z.string(),
  messages: z.array(messageSchema).min(1),
  tools: z
    .array(
      z.looseObject({
        function: z.looseObject({
          name: z.string(),
          description: z.string().default(''),
          parameters: z.record(z.string(), z.unknown()),
        }),
      }),
    )
    .default([]),
  temperature: z.number().optional(),
  top_p: z.number().optional(),
  stream: z.literal(false).optional(),
});
export type ChatRequest = z.infer<typeof chatRequestSchema>;
export type ChatRequestMessage = ChatRequest['messages'][number];

/** A part of a model's answer, in the order in which it said them. */
export type AnswerPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'call'; readonly id: string; readonly name: string; readonly input: object };

/** A model that answers conversations. */
export interface ChatModel {
  /** By which requests name it. */
  readonly id: string;
  /** Tokens that a conversation may have; 0 where it is not known. */
  readonly maxInputTokens: number;
  countTokens(text: string): PromiseLike<number>;
  /** Throws `bad-input` where it will answer nothing any more, `infrastructure` where it may the next time, else `cancelled`. */
  ask(request: ChatRequest, signal: AbortSignal): AsyncIterable<AnswerPart>;
}

/** The answer as a server of chat completions gives it. */
export function completionOf(model: string, parts: readonly AnswerPart[], tokens: { prompt: number; answer: number }) {
  const text = textOf(parts);
  const calls = parts.flatMap((part) =>
    part.kind === 'call'
      ? [{ id: part.id, type: 'function', function: { name: part.name, arguments: JSON.stringify(part.input) } }]
      : [],
  );
  const message = {
    role: 'assistant',
    content: text === '' ? null : text,
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  return {
    object: 'chat.completion',
    model,
    choices: [{ index: 0, finish_reason: calls.length > 0 ? 'tool_calls' : 'stop', message }],
    usage: {
      prompt_tokens: tokens.prompt,
      completion_tokens: tokens.answer,
      total_tokens: tokens.prompt + tokens.answer,
    },
  };
}

export const textOf = (parts: readonly AnswerPart[]) =>
  parts.map((part) => (part.kind === 'text' ? part.text : '')).join('');
