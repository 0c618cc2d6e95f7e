import { badInput, WhetstoneError } from '../../trajectory/errors.js';
import type { AssistantMessage, Message, ToolMessage, ToolSchema } from '../../trajectory/message.js';
import { ByteLevelTokenizer } from './byteLevelTokenizer.js';
import { type ChatTemplate, compileChatTemplate } from './chatTemplate.js';
import type { TextCodec } from './textCodec.js';
import { parseAssistantText, turnTags } from './toolCalls.js';

export interface CodecFiles {
  /** Parsed tokenizer.json. */
  readonly tokenizer: unknown;
  /** Parsed tokenizer_config.json. */
  readonly tokenizerConfig: Readonly<Record<string, unknown>>;
  /** Jinja source. */
  readonly chatTemplate: string;
  /** End-of-sequence ids by generation_config.json or config.json. */
  readonly eosTokenIds: readonly number[];
  /** Folder, for errors. */
  readonly where: string;
}

/** Stands for a sampled turn while the template's glue around it is found. */
const turnPlaceholder = 'WhetstoneSampledTurn';

/**
 * The codec of a checkpoint in Hugging Face layout: its tokenizer, and its own chat template for the glue. Control
 * tokens come only from the template; where they are typed inside a message they stay text, encoded as such.
 */
export class HuggingFaceCodec implements TextCodec {
  readonly vocabularySize: number;
  readonly stopTokenIds: readonly number[];
  readonly template: ChatTemplate;
  private readonly tokenizer: ByteLevelTokenizer;
  private readonly controls: readonly string[];
  /** The token that the template ends an assistant's turn with. */
  private readonly turnEnd: number;

  /** Throws `bad-input` where the files do not fit together. */
  constructor(files: CodecFiles) {
    this.tokenizer = new ByteLevelTokenizer(files.tokenizer, files.tokenizerConfig, files.where);
    this.vocabularySize = this.tokenizer.vocabularySize;
    this.controls = this.tokenizer.controlTokens;
    this.template = compileChatTemplate(files.chatTemplate, namedTokens(files.tokenizerConfig), files.where);
    const glue = this.renderAfterTurn([
      { role: 'tool', toolCallId: 'call-0', name: 'open', content: 'WhetstoneAnswer' },
    ]);
    const first = glue.ids[0];
    if (first === undefined || !this.isControl(first))
      throw badInput(
        `The chat template in '${files.where}' does not end an assistant's turn with a control token.`,
        'Use a model whose template ends turns, e.g. with <|im_end|>.',
      );
    if (!glue.text.includes('WhetstoneAnswer'))
      throw badInput(
        `The chat template in '${files.where}' leaves out what tools answer.`,
        'Use a model made for tools.',
      );
    this.turnEnd = first;
    this.stopTokenIds = [...new Set([first, ...files.eosTokenIds])];
  }

  encode(text: string): Int32Array {
    return this.tokenizer.encode(text);
  }

  decode(tokenIds: ArrayLike<number>): string {
    return this.tokenizer.decode(tokenIds);
  }

  tokenTexts(tokenIds: ArrayLike<number>): string[] {
    return this.tokenizer.tokenTexts(tokenIds);
  }

  promptNodes(
    messages: readonly Message[],
    tools: readonly ToolSchema[],
  ): { message: Message; tokenIds: Int32Array }[] {
    const { guard, guarded } = this.guard(messages);
    const whole = this.template.render(guarded, tools, { generationPrompt: true });
    let done = '';
    return messages.map((message, index) => {
      const last = index === messages.length - 1;
      const upToHere = last ? whole : this.renderPrefix(guarded.slice(0, index + 1), tools);
      // Where the template can not render a prefix on its own, the next message's node takes its tokens.
      if (upToHere === null || !whole.startsWith(upToHere) || !upToHere.startsWith(done))
        return { message, tokenIds: new Int32Array(0) };
      const added = upToHere.slice(done.length);
      done = upToHere;
      return { message, tokenIds: this.tokenizer.encode(added, this.controls, guard) };
    });
  }

  observation(
    turn: { sampledIds: Int32Array; message: AssistantMessage },
    observations: readonly ToolMessage[],
  ): Int32Array {
    const { ids } = this.renderAfterTurn(observations);
    const lastSampled = turn.sampledIds.at(-1);
    const ended = lastSampled !== undefined && this.stopTokenIds.includes(lastSampled);
    // The glue starts with the token that ends the turn; a turn that was not cut has sampled its end already.
    return ended ? ids.slice(1) : ids;
  }

  /** `raw` is the decoded text without the stop token. */
  parseTurn(tokenIds: Int32Array): AssistantMessage {
    const last = tokenIds.at(-1);
    const ended = last !== undefined && this.stopTokenIds.includes(last);
    return parseAssistantText(this.decode(ended ? tokenIds.subarray(0, -1) : tokenIds));
  }

  encodeTurn(raw: string): Int32Array {
    const tags = turnTags.filter((tag) => this.tokenizer.controlId(tag) !== undefined);
    return Int32Array.of(...this.tokenizer.encode(raw, tags), this.turnEnd);
  }

  /** What the template puts after an assistant's turn: its end, the tools' answers, the next generation prompt. */
  private renderAfterTurn(observations: readonly ToolMessage[]): { text: string; ids: Int32Array } {
    const { guard, guarded } = this.guard(observations);
    const conversation: Message[] = [
      { role: 'user', content: 'Begin.' },
      { role: 'assistant', content: turnPlaceholder, toolCalls: [], raw: turnPlaceholder },
      ...guarded,
    ];
    const rendered = this.template.render(conversation, [], { generationPrompt: true });
    const start = rendered.indexOf(turnPlaceholder);
    if (start < 0) throw new Error('internal: the chat template left out the assistant message');
    const text = rendered.slice(start + turnPlaceholder.length);
    return { text, ids: this.tokenizer.encode(text, this.controls, guard) };
  }

  /** Copies of messages whose control tokens are broken by a guard that occurs nowhere else in them. */
  private guard(messages: readonly Message[]): { guard: string; guarded: Message[] } {
    const json = JSON.stringify(messages);
    let guard = '\uFDD0';
    for (let n = 1; json.includes(guard); n++) guard = `\uFDD0${n}\uFDD1`;
    let marked = json;
    for (const control of this.controls)
      marked = marked.replaceAll(control, control.slice(0, 1) + guard + control.slice(1));
    return { guard, guarded: JSON.parse(marked) as Message[] };
  }

  private renderPrefix(messages: readonly Message[], tools: readonly ToolSchema[]): string | null {
    try {
      return this.template.render(messages, tools, { generationPrompt: false });
    } catch (error) {
      if (error instanceof WhetstoneError) return null;
      throw error;
    }
  }

  private isControl(id: number): boolean {
    return this.controls.some((token) => this.tokenizer.controlId(token) === id);
  }
}

/** `bos_token` and the like, which tokenizer_config.json gives as text or as an added token. */
function namedTokens(tokenizerConfig: Readonly<Record<string, unknown>>): Record<string, string> {
  const named: Record<string, string> = {};
  for (const name of ['bos_token', 'eos_token', 'pad_token', 'unk_token']) {
    const value = tokenizerConfig[name];
    if (typeof value === 'string') named[name] = value;
    else if (typeof value === 'object' && value !== null && 'content' in value && typeof value.content === 'string')
      named[name] = value.content;
  }
  return named;
}
