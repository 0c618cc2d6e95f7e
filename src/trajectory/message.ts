/** A call of a tool, as the policy wrote it. `arguments` is what parsed out of its JSON. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** The description of a tool, in the JSON-schema form that chat templates and OpenAI-compatible servers take. */
export interface ToolSchema {
  readonly type: 'function';
  readonly function: {
    readonly name: string;
    readonly description: string;
    readonly parameters: Readonly<Record<string, unknown>>;
  };
}

export interface SystemMessage {
  readonly role: 'system';
  readonly content: string;
}
export interface UserMessage {
  readonly role: 'user';
  readonly content: string;
}
/** One sampled turn. `raw` is the exact decoded text; the other fields are what parsed out of it. */
export interface AssistantMessage {
  readonly role: 'assistant';
  readonly content: string;
  readonly thinking?: string;
  readonly toolCalls: readonly ToolCall[];
  /** Set where the text held something meant as a call that did not parse; it says what was wrong. */
  readonly malformedCall?: string;
  /** Set where the policy was asked something beside the play, so that no tool saw it: a summary of its progress. */
  readonly aside?: 'summary';
  readonly raw: string;
}
/** An observation: what a tool answered. */
export interface ToolMessage {
  readonly role: 'tool';
  readonly toolCallId: string;
  readonly name: string;
  readonly content: string;
}
export type Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage;

/** Whether a message is a turn of the play: what the tools answer. */
export const isTurn = (message: Message): message is AssistantMessage =>
  message.role === 'assistant' && message.aside === undefined;
