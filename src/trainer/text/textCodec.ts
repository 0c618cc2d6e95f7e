import type { AssistantMessage, Message, ToolMessage, ToolSchema } from '../../trajectory/message.js';

/**
 * Between messages and token ids, token in, token out: what was sampled is never re-tokenized. The ids of an episode
 * are `promptNodes` laid end to end, then for each turn the sampled ids and `observation` ids.
 */
export interface TextCodec {
  readonly vocabularySize: number;
  /** A sampled turn ends with one of these. */
  readonly stopTokenIds: readonly number[];
  /** Encodes plain text; text that looks like a control token stays text. */
  encode(text: string): Int32Array;
  decode(tokenIds: ArrayLike<number>): string;
  /** The text of every token on its own; a token that holds part of a character shows as `\xNN`. */
  tokenTexts(tokenIds: ArrayLike<number>): string[];
  /** Ids of each opening message by the chat template; the last one's include the generation prompt. */
  promptNodes(messages: readonly Message[], tools: readonly ToolSchema[]): { message: Message; tokenIds: Int32Array }[];
  /**
   * Ids of the observations after a sampled turn: the template's glue after the turn (with the stop token where the
   * turn was cut before it), the tools' messages, the glue that opens the next turn (the generation prompt).
   */
  observation(
    turn: { sampledIds: Int32Array; message: AssistantMessage },
    observations: readonly ToolMessage[],
  ): Int32Array;
  /** Parses a sampled turn: thinking, tool calls (Hermes/Qwen JSON in tags), content. Never throws. */
  parseTurn(tokenIds: Int32Array): AssistantMessage;
  /** Ids of an assistant turn written by hand (an expert's), the stop token included, as the policy would sample it. */
  encodeTurn(raw: string): Int32Array;
}
