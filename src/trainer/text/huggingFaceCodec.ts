import { badInput, WhetstoneError } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';
import type { AssistantMessage, Message, ToolMessage, ToolSchema } from '../../trajectory/message.js';
import { ByteLevelTokenizer } from './byteLevelTokenizer.js';
import { callOpening, differingCalls } from './callOpening.js';
import { type ChatTemplate, compileChatTemplate } from './chatTemplate.js';
import { callGrammar } from './grammar/callGrammar.js';
import type { CallSchema } from './grammar/jsonRules.js';
import { tokenConstraint, type TokenConstraint } from './grammar/tokenConstraint.js';
import type { TextCodec } from './textCodec.js';
import { parseAssistantText, thinkTags } from './toolCalls.js';
import { hermes } from './toolFormats/hermes.js';
import { react } from './toolFormats/react.js';
import type { ToolFormat, ToolFormatName } from './toolFormats/toolFormat.js';
import { formatThatReads, toolFormats } from './toolFormats/toolFormats.js';

export interface CodecFiles {
  /** Parsed tokenizer.json. */
  readonly tokenizer: unknown;
  /** Parsed tokenizer_config.json. */
  readonly tokenizerConfig: Readonly<Record<string, unknown>>;
  /** Jinja source. */
  readonly chatTemplate: string;
  /** End-of-sequence ids by generation_config.json or config.json. */
  readonly eosTokenIds: readonly number[];
  /** How tool calls are written; found out of the template where it is not given. */
  readonly toolFormat?: ToolFormatName;
  /** Folder, for errors. */
  readonly where: string;
}

/** Stands for a sampled turn while the template's glue around it is found. */
const turnPlaceholder = 'WhetstoneSampledTurn';

const begin: Message = { role: 'user', content: 'Begin.' };
const probeAnswer: ToolMessage = { role: 'tool', toolCallId: 'call-0', name: 'open', content: 'WhetstoneAnswer' };
const probeCall = { name: 'open', arguments: { path: 'a.js' } };

/**
 * The codec of a checkpoint in Hugging Face layout: its tokenizer, and its own chat template for the glue. Control
 * tokens come only from the template; where they are typed inside a message they stay text, encoded as such.
 */
export class HuggingFaceCodec implements TextCodec {
  readonly vocabularySize: number;
  readonly stopTokenIds: readonly number[];
  readonly template: ChatTemplate;
  readonly toolFormat: ToolFormat;
  private readonly tokenizer: ByteLevelTokenizer;
  private readonly controls: readonly string[];
  /** The token that the template ends an assistant's turn with. */
  private readonly turnEnd: number;
  /** Does the template write tool calls itself? Else they stand in the text of a turn. */
  private readonly writesCalls: boolean;
  private readonly knowsThinking: boolean;
  private readonly constraints = new Map<string, TokenConstraint>();
  /** What the template writes around a probing turn. */
  private around: { readonly prompt: string | null; readonly after: string } | null = null;

  /** Throws `bad-input` where the files do not fit together. */
  constructor(private readonly files: CodecFiles) {
    this.tokenizer = new ByteLevelTokenizer(files.tokenizer, files.tokenizerConfig, files.where);
    this.vocabularySize = this.tokenizer.vocabularySize;
    this.controls = this.tokenizer.controlTokens;
    this.template = compileChatTemplate(files.chatTemplate, namedTokens(files.tokenizerConfig), files.where);
    const glue = this.renderAfterTurn([probeAnswer]);
    const first = glue.ids[0];
    if (first === undefined || !this.isControl(first))
      throw badInput(
        say`The chat template in '${files.where}' does not end an assistant's turn with a control token.`,
        'Use a model whose template ends turns, e.g. with <|im_end|>.',
      );
    if (!glue.text.includes('WhetstoneAnswer'))
      throw badInput(
        say`The chat template in '${files.where}' leaves out what tools answer.`,
        'Use a model made for tools.',
      );
    this.turnEnd = first;
    this.stopTokenIds = [...new Set([first, ...files.eosTokenIds])];
    const read = this.formatOfTemplate();
    this.writesCalls = read !== null && (files.toolFormat === undefined || files.toolFormat === read.name);
    this.knowsThinking = files.chatTemplate.includes('reasoning_content');
    const chosen = files.toolFormat === undefined ? undefined : toolFormats[files.toolFormat];
    this.toolFormat = chosen ?? read ?? (files.chatTemplate.includes('Action Input:') ? react : hermes);
  }

  /** The same with tool calls in another format than the template's own. */
  withToolFormat(toolFormat: ToolFormatName): HuggingFaceCodec {
    return new HuggingFaceCodec({ ...this.files, toolFormat });
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
    const { guard, guarded } = this.guard(messages.map((message) => this.presented(message)));
    const whole = this.template.render(guarded, tools, { generationPrompt: true });
    let done = '';
    return messages.map((message, index) => {
      const last = index === messages.length - 1;
      const upToHere = last
        ? whole
        : this.renderOrNull(guarded.slice(0, index + 1), tools, { generationPrompt: false });
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
  parseTurn(tokenIds: Int32Array, tools: readonly ToolSchema[] = []): AssistantMessage {
    const last = tokenIds.at(-1);
    const ended = last !== undefined && this.stopTokenIds.includes(last);
    return parseAssistantText(this.decode(ended ? tokenIds.subarray(0, -1) : tokenIds), this.toolFormat, tools);
  }

  encodeTurn(raw: string): Int32Array {
    return Int32Array.of(...this.tokenizer.encode(raw, this.turnMarks()), this.turnEnd);
  }

  encodeMessage(message: AssistantMessage): Int32Array {
    const { guard, guarded } = this.guard([message]);
    const written = this.turnByTemplate(guarded[0] as AssistantMessage);
    if (written !== null && this.reads(written.replaceAll(guard, ''), message))
      return Int32Array.of(...this.tokenizer.encode(written, this.controls, guard), this.turnEnd);
    const { thinking, content, toolCalls } = message;
    const [open, close] = thinkTags;
    const thought = thinking === undefined ? '' : `${open}\n${thinking}\n${close}\n`;
    return this.encodeTurn(thought + this.toolFormat.write(content, toolCalls));
  }

  callOpening(tool: ToolSchema, prompt: Int32Array): Int32Array {
    const [open, close] = thinkTags;
    // The tag and the line's end behind it are a token for each byte at the most.
    const isThinking = this.decode(prompt.subarray(-(open.length + 2)))
      .trimEnd()
      .endsWith(open);
    const { name } = tool.function;
    const { needed, whole } = differingCalls(tool);
    const openingOf = (calls: typeof needed) => {
      const turns = calls.map((call) => this.encodeTurn(this.toolFormat.write('', [call])));
      return callOpening(turns, name, (ids) => this.decode(ids));
    };
    // A vocabulary may have one token for all of a plain call: then that is how the policy makes one.
    const opening = openingOf([...needed, ...whole]) ?? openingOf(needed);
    const marks = this.turnMarks();
    return Int32Array.of(
      ...(isThinking ? this.tokenizer.encode(`\n${close}\n\n`, marks) : []),
      ...(opening ?? this.tokenizer.encode(this.toolFormat.opening(name), marks)),
    );
  }

  callConstraint(tools: readonly CallSchema[]): TokenConstraint {
    const key = tools.map(({ name }) => name).join();
    const known = this.constraints.get(key);
    if (known !== undefined) return known;
    const marks = [...thinkTags, ...this.toolFormat.marks];
    const bytesOf = (id: number) => this.tokenizer.plainBytes(id, marks);
    const made = tokenConstraint(callGrammar(this.toolFormat, tools), this.vocabularySize, bytesOf, this.stopTokenIds);
    this.constraints.set(key, made);
    return made;
  }

  keepsHistory(
    messages: readonly Message[],
    tools: readonly ToolSchema[],
    tokenIds: ArrayLike<number>,
  ): boolean | null {
    const composed = (text: string) => (this.tokenizer.composes ? text.normalize('NFC') : text);
    const stored = composed(this.decode(tokenIds));
    const renderings = [this.presented, this.asText].map((variant) =>
      this.renderOrNull(
        messages.map((message) => variant.call(this, message)),
        tools,
        { generationPrompt: true },
      ),
    );
    if (renderings.every((rendering) => rendering === null)) return null;
    return renderings.some((rendering) => rendering !== null && composed(rendering) === stored);
  }

  /** What the template puts after an assistant's turn: its end, the tools' answers, the next generation prompt. */
  private renderAfterTurn(observations: readonly ToolMessage[]): { text: string; ids: Int32Array } {
    const { guard, guarded } = this.guard(observations);
    const conversation: Message[] = [
      begin,
      { role: 'assistant', content: turnPlaceholder, toolCalls: [], raw: turnPlaceholder },
      ...guarded,
    ];
    const rendered = this.template.render(conversation, [], { generationPrompt: true });
    const start = rendered.indexOf(turnPlaceholder);
    if (start < 0)
      throw badInput(
        say`The chat template in '${this.files.where}' leaves out what the assistant says.`,
        'Use a model made for conversations.',
      );
    const text = rendered.slice(start + turnPlaceholder.length);
    return { text, ids: this.tokenizer.encode(text, this.controls, guard) };
  }

  /** The format that the template's own rendering of a call has; null where the template writes no calls. */
  private formatOfTemplate(): ToolFormat | null {
    const call = { id: 'call-0', ...probeCall };
    const written = this.turnByTemplate({ role: 'assistant', content: '', toolCalls: [call], raw: '' });
    return written === null ? null : formatThatReads(written, probeCall);
  }

  /** A turn as the template writes it, between the generation prompt and the turn's end; null where it does not. */
  private turnByTemplate(message: AssistantMessage): string | null {
    const rendered = this.renderOrNull([begin, message, probeAnswer], [], { generationPrompt: true });
    this.around ??= {
      prompt: this.renderOrNull([begin], [], { generationPrompt: true }),
      after: this.renderAfterTurn([probeAnswer]).text,
    };
    const { prompt, after } = this.around;
    if (prompt === null || !rendered?.startsWith(prompt) || !rendered.endsWith(after)) return null;
    return rendered.slice(prompt.length, rendered.length - after.length);
  }

  /** A message as the template takes it: a turn by its parts where the template writes calls, else as text. */
  private presented(message: Message): Message {
    if (message.role !== 'assistant') return message;
    const inParts = this.writesCalls && message.toolCalls.length > 0 && message.malformedCall === undefined;
    return inParts ? message : this.asText(message);
  }

  /** A turn with its calls in its text, and its thinking too where the template knows no thinking. */
  private asText(message: Message): Message {
    if (message.role !== 'assistant') return message;
    const { thinking, raw } = message;
    const close = thinking === undefined || !this.knowsThinking ? -1 : raw.indexOf(thinkTags[1]);
    const text = { role: 'assistant' as const, content: message.content, toolCalls: [] };
    if (close < 0) return { ...text, raw };
    return { ...text, thinking, raw: raw.slice(close + thinkTags[1].length).replace(/^\n+/, '') };
  }

  private reads(raw: string, { thinking, content, toolCalls, malformedCall }: AssistantMessage): boolean {
    const read = parseAssistantText(raw, this.toolFormat);
    const plain = (calls: AssistantMessage['toolCalls']) => calls.map(({ name, arguments: args }) => [name, args]);
    const parts = (turn: Pick<AssistantMessage, 'thinking' | 'content' | 'toolCalls' | 'malformedCall'>) =>
      JSON.stringify([turn.thinking?.trim(), turn.content.trim(), plain(turn.toolCalls), turn.malformedCall]);
    return parts(read) === parts({ thinking, content, toolCalls, malformedCall });
  }

  /** Control tokens that a turn holds by itself. */
  private turnMarks(): string[] {
    const marks = [...thinkTags, ...this.toolFormat.marks];
    return marks.filter((mark) => this.tokenizer.controlId(mark) !== undefined);
  }

  /**
   * Copies of messages whose control tokens are broken by a guard that occurs nowhere else in them; a turn that the
   * template takes as text keeps its own marks.
   */
  private guard(messages: readonly Message[]): { guard: string; guarded: Message[] } {
    const whole = JSON.stringify(messages);
    let guard = '\uFDD0';
    for (let n = 1; whole.includes(guard); n++) guard = `\uFDD0${n}\uFDD1`;
    const guarded = messages.map((message) => {
      const isText = message.role === 'assistant' && message.toolCalls.length === 0 && message.raw !== turnPlaceholder;
      const kept = isText ? this.turnMarks() : [];
      let marked = JSON.stringify(message);
      for (const control of this.controls)
        if (!kept.includes(control) && marked.includes(control))
          marked = marked.replaceAll(control, control.slice(0, 1) + guard + control.slice(1));
      return JSON.parse(marked) as Message;
    });
    return { guard, guarded };
  }

  private renderOrNull(
    messages: readonly Message[],
    tools: readonly ToolSchema[],
    options: { generationPrompt: boolean },
  ): string | null {
    try {
      return this.template.render(messages, tools, options);
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
