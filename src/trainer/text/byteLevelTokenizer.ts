import { Tokenizer } from '@huggingface/tokenizers';
import { z } from 'zod';
import { badInput, type WhetstoneError } from '../../trajectory/errors.js';
import { say, type Said } from '../../trajectory/said.js';
import { listOf, recordOf } from '../firstFault.js';
import { fromByteCharacters, showBytes } from './byteLevel.js';
import { TimedOut, withinTime } from './withinTime.js';

/** Ids are int32 wherever they are computed with. */
const idSchema = z
  .int()
  .nonnegative()
  .max(2 ** 31 - 1);
const addedTokenSchema = z.looseObject({ id: idSchema, content: z.string().min(1), special: z.boolean() });

/** The parts of a Hugging Face tokenizer.json that are read here; the library reads the rest. */
export const tokenizerJsonSchema = z.looseObject({
  added_tokens: listOf(addedTokenSchema).default([]),
  normalizer: z.unknown(),
  pre_tokenizer: z.unknown(),
  decoder: z.unknown(),
  model: z.looseObject({
    type: z.literal('BPE').optional(),
    vocab: recordOf(idSchema),
    merges: listOf(z.union([z.string(), z.array(z.string()).max(2)])),
  }),
});

/** Every text is searched for each; tokenizers in use have up to some six thousand. */
const mostAddedTokens = 1 << 15;

/** Longer texts are encoded in pieces, so that no part of the library sees a list too long for one call. */
const pieceCharacters = 32_768;

/**
 * A byte-level BPE tokenizer (GPT-2's kind: Llama 3, Qwen, SmolLM), with control tokens kept apart from text:
 * a control token's id comes only from where a caller allows its name.
 */
export class ByteLevelTokenizer {
  /** One more than the greatest id. */
  readonly vocabularySize: number;
  /** Text comes back in Unicode's form NFC, as Qwen's tokenizers bring it first. */
  readonly composes: boolean;
  private readonly tokenizer: Tokenizer;
  private readonly bytes: (Uint8Array | undefined)[] = [];
  /** Texts of the tokens that were asked for: a long conversation has few tokens many times. */
  private readonly texts: (string | undefined)[] = [];
  private readonly controlIds = new Map<string, number>();
  private controlNames?: ReadonlyMap<number, string>;
  private readonly refuse: (reason: Said | string, cause?: unknown) => WhetstoneError;

  /** `where` names the file in errors; `pieceMs` is how long a piece of text may take. */
  constructor(
    tokenizerJson: unknown,
    tokenizerConfig: Readonly<Record<string, unknown>>,
    where: string,
    private readonly pieceMs = 10_000,
  ) {
    const refuse = (reason: Said | string, cause?: unknown) =>
      badInput(say`Cannot use the tokenizer '${where}': ${reason}.`, 'Use a byte-level BPE tokenizer.json.', cause);
    this.refuse = refuse;
    const parsed = tokenizerJsonSchema.safeParse(tokenizerJson);
    if (!parsed.success) {
      const issue = parsed.error.issues[0]!;
      throw refuse(say`${issue.path.join('.') || say`the file`}: ${issue.message}`, parsed.error);
    }
    const json = parsed.data;
    if (json.added_tokens.length > mostAddedTokens)
      throw refuse(say`it has ${json.added_tokens.length} added tokens, more than ${mostAddedTokens}`);
    if (!mentionsByteLevel(json.decoder) || !mentionsByteLevel(json.pre_tokenizer))
      throw refuse(say`its pre-tokenizer and decoder are not ByteLevel`);
    this.composes = /"type":"NFC"/.test(JSON.stringify(json.normalizer ?? null));
    const utf8 = new TextEncoder();
    for (const { id, content, special } of json.added_tokens) {
      this.bytes[id] = utf8.encode(content);
      if (special || /^[<[].*[>\]]$/s.test(content)) this.controlIds.set(content, id);
    }
    for (const [token, id] of Object.entries(json.model.vocab)) {
      const bytes = fromByteCharacters(token);
      this.bytes[id] ??= bytes ?? utf8.encode(token);
    }
    this.vocabularySize = this.bytes.length;
    const isControl = (content: string) => this.controlIds.has(content);
    const withoutControls = {
      ...json,
      normalizer: json.normalizer ?? null,
      // Chat templates write the special tokens that it would add.
      post_processor: null,
      added_tokens: json.added_tokens.filter(({ content }) => !isControl(content)),
      model: {
        ...json.model,
        vocab: Object.fromEntries(Object.entries(json.model.vocab).filter(([token]) => !isControl(token))),
      },
    };
    try {
      this.tokenizer = new Tokenizer(withoutControls, { ...tokenizerConfig });
    } catch (error) {
      throw refuse(error instanceof Error ? error.message : String(error), error);
    }
  }

  /** Names of the control tokens, the longest first. */
  get controlTokens(): string[] {
    return [...this.controlIds.keys()].sort((a, b) => b.length - a.length);
  }

  controlId(token: string): number | undefined {
    return this.controlIds.get(token);
  }

  /**
   * Encodes text; only the control tokens named in `allowed` become their ids, all else stays text. Occurrences of
   * `guard` are left out of the text after the control tokens were found: a guard inside one keeps it text. Throws `bad-input`
   * where the tokenizer comes to no end with it, or breaks on what its file says.
   */
  encode(text: string, allowed: readonly string[] = [], guard = ''): Int32Array {
    // A piece takes some ten milliseconds, unless a stranger's regular expression tries every way through it.
    const most = this.pieceMs * (1 + Math.floor(text.length / pieceCharacters));
    try {
      return withinTime(most, () => this.encodeUntimed(text, allowed, guard));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw this.refuse(
        error instanceof TimedOut ? say`${reason} for a text of ${text.length} characters` : reason,
        error,
      );
    }
  }

  private encodeUntimed(text: string, allowed: readonly string[], guard: string): Int32Array {
    const ids: number[] = [];
    for (const segment of splitAt(text, allowed)) {
      const control = allowed.includes(segment) ? this.controlIds.get(segment) : undefined;
      if (control !== undefined) ids.push(control);
      else
        for (const piece of pieces(guard === '' ? segment : segment.replaceAll(guard, '')))
          for (const id of this.tokenizer.encode(piece, { add_special_tokens: false }).ids) ids.push(id);
    }
    return Int32Array.from(ids);
  }

  /** Decodes all tokens' bytes laid end to end; bytes that form no character become U+FFFD. */
  decode(tokenIds: ArrayLike<number>): string {
    const parts = Array.from(tokenIds, (id) => this.tokenBytes(id));
    return lenientUtf8.decode(Buffer.concat(parts));
  }

  /** Bytes of a token; null for control tokens other than `allowed`, and for ids without a token. */
  plainBytes(id: number, allowed: readonly string[]): Uint8Array | null {
    this.controlNames ??= new Map([...this.controlIds].map(([name, control]) => [control, name]));
    const name = this.controlNames.get(id);
    return name !== undefined && !allowed.includes(name) ? null : (this.bytes[id] ?? null);
  }

  /** Each token's own text; bytes of a part of a character as `\xNN`. */
  tokenTexts(tokenIds: ArrayLike<number>): string[] {
    return Array.from(tokenIds, (id) => this.tokenText(id));
  }

  private tokenText(id: number): string {
    const bytes = this.bytes[id];
    if (bytes === undefined) return replacement;
    return (this.texts[id] ??= showBytes(bytes));
  }

  /** Ids that no token has (a model's vocabulary may be padded) read as U+FFFD. */
  private tokenBytes(id: number): Uint8Array {
    return this.bytes[id] ?? replacementBytes;
  }
}

const lenientUtf8 = new TextDecoder('utf-8', { ignoreBOM: true });
const replacement = '\uFFFD';
const replacementBytes = new TextEncoder().encode(replacement);

/** Splits text at every occurrence of a token; the tokens are parts of their own. */
function splitAt(text: string, tokens: readonly string[]): string[] {
  if (tokens.length === 0 || text === '') return text === '' ? [] : [text];
  const pattern = [...tokens]
    .sort((a, b) => b.length - a.length)
    .map((token) => token.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('|');
  return text.split(new RegExp(`(${pattern})`, 'u')).filter((part) => part !== '');
}

/** Cuts a long text before a line's first visible character (where pre-tokenizers cut too), else anywhere. */
function* pieces(text: string): Generator<string> {
  let start = 0;
  while (text.length - start > pieceCharacters) {
    const end = cutPosition(text, start);
    yield text.slice(start, end);
    start = end;
  }
  if (start < text.length) yield text.slice(start);
}

function cutPosition(text: string, start: number): number {
  const limit = start + pieceCharacters;
  for (let i = limit; i > start + pieceCharacters / 2; i--) if (text[i - 1] === '\n' && !/\s/.test(text[i]!)) return i;
  // Never between the halves of a surrogate pair.
  return /[\uDC00-\uDFFF]/.test(text[limit]!) ? limit - 1 : limit;
}

function mentionsByteLevel(component: unknown): boolean {
  return JSON.stringify(component ?? null).includes('"type":"ByteLevel"');
}
