import type { AssistantMessage, Message, ToolMessage, ToolSchema } from '../../trajectory/message.js';
import type { CallSchema } from './grammar/jsonRules.js';
import type { TokenConstraint } from './grammar/tokenConstraint.js';
import type { ToolFormat } from './toolFormats/toolFormat.js';

/**
 * Between messages and token ids, token in, token out: what was sampled is never re-tokenized. The ids of an episode
 * are `promptNodes` laid end to end, then for each turn the sampled ids and `observation` ids.
 */
export interface TextCodec {
  readonly vocabularySize: number;
  /** A sampled turn ends with one of these. */
  readonly stopTokenIds: readonly number[];
  /** How the policy writes tool calls, by its chat template. */
  readonly toolFormat: ToolFormat;
  /** Encodes plain text; text that looks like a control token stays text. */
  encode(text: string): Int32Array;
  decode(tokenIds: ArrayLike<number>): string;
  /** The text of every token on its own; a token that holds part of a character shows as `\xNN`. */
  tokenTexts(tokenIds: ArrayLike<number>): string[];
  /**
   * Ids of each message of a conversation by the chat template; the last one's include the generation prompt. Turns of the
   * assistant are written as the template writes them, not as they were sampled.
   */
  promptNodes(messages: readonly Message[], tools: readonly ToolSchema[]): { message: Message; tokenIds: Int32Array }[];
  /**
   * Ids of the observations after a sampled turn: the template's glue after the turn (with the stop token where the
   * turn was cut before it), the tools' messages, the glue that opens the next turn (the generation prompt).
   */
  observation(
    turn: { sampledIds: Int32Array; message: AssistantMessage },
    observations: readonly ToolMessage[],
  ): Int32Array;
  /** Parses a sampled turn: thinking, tool calls in the policy's format, content. Never throws. */
  parseTurn(tokenIds: Int32Array, tools?: readonly ToolSchema[]): AssistantMessage;
  /** Ids of an assistant turn written by hand (an expert's), the stop token included, as the policy would sample it. */
  encodeTurn(raw: string): Int32Array;
  /** The same of a turn given by its parts: as the template writes it, or in the policy's format where it does not. */
  encodeMessage(message: AssistantMessage): Int32Array;
  /**
   * Ids with which every turn begins that calls the tool at once, as the policy itself would write it; with the end of the thinking where
   * the prompt, whose ids come before, has opened it.
   */
  callOpening(tool: ToolSchema, prompt: Int32Array): Int32Array;
  /** Lets only turns be sampled that hold valid calls of the tools, in the policy's format. */
  callConstraint(tools: readonly CallSchema[]): TokenConstraint;
  /**
   * Does the template still render what is stored, now that the conversation has come this far? Null where it renders no
   * such conversation.
   */
  keepsHistory(messages: readonly Message[], tools: readonly ToolSchema[], tokenIds: ArrayLike<number>): boolean | null;
}
