import type { AssistantMessage, Message, ToolCall, ToolMessage, ToolSchema } from '../../trajectory/message.js';
import type { MessagePlayer } from '../rollout/arena.js';
import { beginningOf, withoutTokens, type Dialogue, type Opening } from '../rollout/dialogue.js';
import type { NodePath } from '../rollout/nodes.js';
import { deriveSeed } from '../rollout/seeds.js';
import { parseAssistantText } from '../text/toolCalls.js';
import { isRecord } from '../text/toolFormats/json.js';
import { toolFormatNames } from '../text/toolFormats/toolFormat.js';
import { toolFormats } from '../text/toolFormats/toolFormats.js';
import { type ChatCompletion, ChatServer, type ChatServerOptions } from './chatServer.js';

/** The model of an OpenAI-compatible server as a policy: it plays and is evaluated, and cannot be trained. */
export function serverPlayer(options: ChatServerOptions): MessagePlayer {
  const server = new ChatServer(options);
  return { policyStep: 0, converse: (opening) => new ServerDialogue(server, opening) };
}

class ServerDialogue implements Dialogue {
  readonly path: NodePath;
  private readonly messages: Message[];
  private turn: number;

  constructor(
    private readonly server: ChatServer,
    private readonly opening: Opening,
  ) {
    const beginning = beginningOf(opening, () => withoutTokens(opening.prompt));
    ({ path: this.path, messages: this.messages, turns: this.turn } = beginning);
  }

  async next(signal: AbortSignal): Promise<AssistantMessage | null> {
    const { plan, options, tools } = this.opening;
    const { temperature, topP, topK, minP, stopStrings, maxTokensPerTurn } = options;
    const completion = await this.server.complete(
      {
        messages: this.messages.map(serverMessage),
        tools,
        temperature,
        top_p: topP,
        ...(topK > 0 ? { top_k: topK } : {}),
        ...(minP > 0 ? { min_p: minP } : {}),
        ...(stopStrings.length > 0 ? { stop: stopStrings } : {}),
        max_tokens: maxTokensPerTurn,
        seed: deriveSeed(plan.seed, this.turn++),
        logprobs: true,
        // Unless told, llama.cpp lists the 20 likeliest tokens beside each: megabytes in a long turn.
        top_logprobs: 1,
        return_token_ids: true,
      },
      signal,
    );
    if (completion === null) return null;
    const message = messageOf(completion, tools);
    this.path.addSampled(message, sampledTokens(completion));
    // Where the ids are not given, their number still counts.
    const { path } = this;
    const { prompt_tokens: given = 0, completion_tokens: sampled = 0 } = completion.usage ?? {};
    if (path.nodes.at(-1)!.tokenIds.length === 0) path.sampledTokens += sampled;
    path.untoldTokens = Math.max(0, given + sampled - path.toldTokens);
    this.messages.push(message);
    return message;
  }

  observe(observations: readonly ToolMessage[]): void {
    for (const message of observations) this.path.addGiven(message, new Int32Array(0));
    this.messages.push(...observations);
  }

  end(): void {
    // The server keeps nothing of ours.
  }
}

/** A message in OpenAI's form; arguments are JSON text there. */
function serverMessage(message: Message): Record<string, unknown> {
  switch (message.role) {
    case 'system':
    case 'user':
      return { role: message.role, content: message.content };
    case 'tool':
      // A malformed call was no call, so its answer can only be a user's.
      return message.toolCallId.startsWith('malformed-')
        ? { role: 'user', content: message.content }
        : { role: 'tool', tool_call_id: message.toolCallId, content: message.content };
    case 'assistant':
      if (message.toolCalls.length === 0) return { role: 'assistant', content: message.raw };
      return {
        role: 'assistant',
        content: message.content,
        tool_calls: message.toolCalls.map(({ id, name, arguments: args }) => ({
          id,
          type: 'function',
          function: { name, arguments: JSON.stringify(args) },
        })),
      };
  }
}

/** The turn: calls as the server parsed them, else as they stand in the text in any of the formats. */
function messageOf({ choices }: ChatCompletion, tools: readonly ToolSchema[]): AssistantMessage {
  const { content, reasoning_content: reasoning, reasoning: alias, tool_calls: calls } = choices[0]!.message;
  const thinking = reasoning ?? alias ?? undefined;
  if (calls && calls.length > 0) {
    const toolCalls: ToolCall[] = [];
    let malformedCall: string | undefined;
    calls.forEach(({ id, function: { name, arguments: args } }, index) => {
      const parsed = argumentsOf(args);
      if (parsed === null) malformedCall ??= `the arguments of ${name} are not a JSON object`;
      else toolCalls.push({ id: id ?? `call-${index}`, name, arguments: parsed });
    });
    const raw = JSON.stringify({ content, reasoning: thinking, tool_calls: calls });
    const parts = { role: 'assistant' as const, content: (content ?? '').trim(), toolCalls, raw };
    return { ...parts, ...(thinking ? { thinking } : {}), ...(malformedCall === undefined ? {} : { malformedCall }) };
  }
  const raw = content ?? '';
  const readings = toolFormatNames.map((name) => parseAssistantText(raw, toolFormats[name], tools));
  const whole = readings.find(({ toolCalls, malformedCall }) => toolCalls.length > 0 && malformedCall === undefined);
  const chosen = whole ?? parseAssistantText(raw, toolFormats.hermes, tools);
  return thinking && chosen.thinking === undefined ? { ...chosen, thinking } : chosen;
}

function argumentsOf(args: unknown): Record<string, unknown> | null {
  if (typeof args !== 'string') return isRecord(args) ? args : null;
  try {
    const parsed: unknown = JSON.parse(args === '' ? '{}' : args);
    return isRecord(parsed) ? parsed : null;
  } catch {
    return null;
  }
}

/** Token ids and log-probabilities where the server gives both of every token; no tokens otherwise, rather than guesses. */
function sampledTokens({ choices }: ChatCompletion) {
  const { token_ids: given, logprobs, finish_reason: reason } = choices[0]!;
  const content = logprobs?.content ?? [];
  const ids = given ?? (content.every(({ id }) => id !== undefined) ? content.map(({ id }) => id!) : []);
  const aligned = ids.length > 0 && ids.length === content.length;
  return {
    tokenIds: Int32Array.from(aligned ? ids : []),
    logprobs: Float32Array.from(aligned ? content.map(({ logprob }) => logprob) : []),
    entropies: new Float32Array(aligned ? ids.length : 0).fill(NaN),
    finishReason: reason === 'length' ? ('length' as const) : ('stop' as const),
  };
}
