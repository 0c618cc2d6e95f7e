import type { ToolSchema } from '../../../trajectory/message.js';

/** A call as a turn holds it; `id` where the model wrote one. */
export interface WrittenCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly id?: string;
}

/** What was found in the text of a turn, its thinking aside. */
export interface FoundCalls {
  /** The text around the calls. */
  readonly content: string;
  readonly calls: readonly WrittenCall[];
  /** What was wrong with something that was meant as a call; null where nothing was. */
  readonly problem: string | null;
}

/** How a family of models writes tool calls. */
export interface ToolFormat {
  readonly name: ToolFormatName;
  /** A call with placeholders, as prompts and answers to malformed calls show it. */
  readonly example: string;
  /** Marks of calls, which are tokens of their own in some vocabularies. */
  readonly marks: readonly string[];
  /** Text that ends a turn beside the stop tokens: what follows would be made up by the model. */
  readonly stopStrings: readonly string[];
  /** Where the first thing that is meant as a call begins; -1 where none does. */
  callStart(text: string): number;
  /** Never throws. `tools` tell the types of arguments that are written without any. */
  find(text: string, tools: readonly ToolSchema[]): FoundCalls;
  /** What a turn that calls the tool begins with, up to where the arguments begin. */
  opening(tool: string): string;
  /** Text and calls as a turn, for templates that do not write calls themselves. */
  write(content: string, calls: readonly WrittenCall[]): string;
}

export const toolFormatNames = ['qwen3-coder', 'hermes', 'mistral', 'llama3', 'react'] as const;
export type ToolFormatName = (typeof toolFormatNames)[number];
