import { z } from 'zod';
import { badInput, cancelled, infrastructure, type WhetstoneError } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';

export interface ChatServerOptions {
  /** Base address as OpenAI clients take it, e.g. `http://localhost:8080/v1`. */
  readonly url: string;
  readonly model: string;
  /** Sent as a bearer token where there is one. */
  readonly apiKey?: string;
  readonly requestSeconds: number;
}

const completionSchema = z.looseObject({
  choices: z
    .array(
      z.looseObject({
        finish_reason: z.string().nullish(),
        message: z.looseObject({
          content: z.string().nullish(),
          reasoning_content: z.string().nullish(),
          reasoning: z.string().nullish(),
          tool_calls: z
            .array(
              z.looseObject({
                id: z.string().nullish(),
                function: z.object({ name: z.string(), arguments: z.unknown() }),
              }),
            )
            .nullish(),
        }),
        /** vLLM's. */
        token_ids: z.array(z.int().nonnegative()).nullish(),
        logprobs: z
          .looseObject({
            content: z.array(z.looseObject({ id: z.int().nonnegative().optional(), logprob: z.number() })).nullish(),
          })
          .nullish(),
      }),
    )
    .min(1),
  usage: z
    .looseObject({
      prompt_tokens: z.int().nonnegative().optional(),
      completion_tokens: z.int().nonnegative().optional(),
    })
    .nullish(),
});

/** A server's answer, in OpenAI's form. */
export type ChatCompletion = z.infer<typeof completionSchema>;

/** Parts of a request that not every server takes; a server that refuses one is asked without it from then on. */
const optionalFields = ['return_token_ids', 'top_logprobs', 'logprobs', 'top_k', 'min_p', 'seed'] as const;

const attempts = 4;

/** llama.cpp answers so from its start until its model is in memory, which takes minutes with a large one. */
const isLoading = (status: number, text: string) => status === 503 && /loading model/i.test(text);

/** A server with OpenAI's chat completions: vLLM, llama.cpp, Ollama, LM Studio, OpenAI itself. */
export class ChatServer {
  private readonly refused = new Set<string>();

  constructor(private readonly options: ChatServerOptions) {}

  /**
   * One completion; null where the conversation is too long for the model. What passes (an overloaded server, a broken
   * connection) is tried again, one that loads its model as long as an answer may take, then it is `infrastructure`; what
   * does not is `bad-input`.
   */
  async complete(request: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<ChatCompletion | null> {
    const latest = performance.now() + this.options.requestSeconds * 1000;
    for (let attempt = 1; ; attempt++) {
      const sent = Object.fromEntries(Object.entries(request).filter(([key]) => !this.refused.has(key)));
      const answer = await this.post({ model: this.options.model, ...sent }, signal);
      if ('completion' in answer) return answer.completion;
      const { status, text } = answer;
      if (status === 400 && /context|too long|exceed|maximum.*tokens/i.test(text)) return null;
      const field =
        status === 400 || status === 422
          ? optionalFields.find((name) => name in sent && text.includes(name))
          : undefined;
      if (field !== undefined) {
        this.refused.add(field);
        continue;
      }
      const passes = status === 0 || status === 408 || status === 429 || status >= 500;
      const loads = isLoading(status, text);
      const goesOn = loads ? performance.now() < latest : attempt < attempts;
      if (!passes || !goesOn) throw this.failure(status, text);
      await pause(loads ? 500 : 250 * 2 ** attempt, signal);
    }
  }

  private async post(
    body: unknown,
    signal: AbortSignal,
  ): Promise<{ completion: ChatCompletion } | { status: number; text: string }> {
    const { url, apiKey, requestSeconds } = this.options;
    const limited = AbortSignal.any([signal, AbortSignal.timeout(requestSeconds * 1000)]);
    let text: string;
    try {
      const response = await fetch(`${url.replace(/\/+$/, '')}/chat/completions`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
        },
        body: JSON.stringify(body),
        signal: limited,
      });
      text = await response.text();
      if (!response.ok) return { status: response.status, text };
    } catch (error) {
      if (signal.aborted) throw cancelled();
      const { message, cause } = error as Error;
      return { status: 0, text: cause instanceof Error ? cause.message : message };
    }
    const parsed = completionSchema.safeParse(parseJson(text));
    if (parsed.success) return { completion: parsed.data };
    throw badInput(
      say`The server at ${url} does not answer with a chat completion (${parsed.error.issues[0]!.path.join('.') || say`no JSON`}).`,
      "Give the address of an OpenAI-compatible server, with its '/v1'.",
      parsed.error,
    );
  }

  private failure(status: number, text: string): WhetstoneError {
    const { url, model } = this.options;
    const reason = wordsOf(text).replace(/\s+/g, ' ').slice(0, 200);
    if (status === 0 || status === 408 || status === 429 || status >= 500) {
      const what = status === 0 ? reason : say`it says ${status}: ${reason}`;
      return infrastructure(say`The server at ${url} cannot be reached (${what}).`, 'Start it, or try again later.');
    }
    const remedy =
      status === 401 || status === 403
        ? say`Put a valid key into the variable OPENAI_API_KEY.`
        : say`Check the address (does it end in /v1?) and the model '${model}'.`;
    return badInput(say`The server at ${url} refuses the request (${status}: ${reason}).`, remedy);
  }
}

const errorSchema = z.looseObject({ error: z.looseObject({ message: z.string() }) });

/** What a server says of an error, in OpenAI's form or in another. */
function wordsOf(text: string): string {
  const told = errorSchema.safeParse(parseJson(text));
  return told.success ? told.data.error.message : text;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(cancelled());
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', abort);
      resolve();
    }, milliseconds);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  });
}
