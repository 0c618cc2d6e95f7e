import type { GgufContents } from './ggufFile.js';
import { Metadata } from './ggufConfig.js';
import { MalformedGguf } from './ggufHeader.js';
import { quoted } from '../quoted.js';

/** How a tokenizer cuts text before it merges, and what else its name in a GGUF file stands for. */
interface Splitting {
  /** Cuts as Hugging Face's tokenizer.json describes them, before the bytes are mapped to characters. */
  readonly cuts: readonly object[];
  /** Whether the mapping to bytes also cuts as GPT-2 did. */
  readonly gpt2: boolean;
  readonly composed?: boolean;
  /** Whether a piece that is a token as a whole is not merged up. */
  readonly wholeFirst?: boolean;
}

const isolated = (regex: string) => ({
  type: 'Split',
  pattern: { Regex: regex },
  behavior: 'Isolated',
  invert: false,
});
const rest = String.raw` ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`;
const contractions = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";
const llama3 = {
  cuts: [isolated(String.raw`${contractions}|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|${rest}`)],
  gpt2: false,
};
const qwen2 = { cuts: [isolated(String.raw`${contractions}|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|${rest}`)], gpt2: false };
const digits = { cuts: [{ type: 'Digits', individual_digits: true }], gpt2: true };
const tekken = String.raw`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`;

/** By llama.cpp's `tokenizer.ggml.pre`. */
const splittings: Readonly<Record<string, Splitting>> = {
  'gpt-2': { cuts: [], gpt2: true },
  smollm: digits,
  'llama-bpe': { ...llama3, wholeFirst: true },
  llama3: { ...llama3, wholeFirst: true },
  'llama-v3': { ...llama3, wholeFirst: true },
  qwen2: { ...qwen2, composed: true },
  'deepseek-r1-qwen': { ...qwen2, composed: true },
  tekken: { cuts: [isolated(tekken)], gpt2: false, wholeFirst: true },
};

/** ggml's kinds of tokens. */
const [control, userDefined] = [3, 4];

/**
 * tokenizer.json, tokenizer_config.json and generation_config.json as Hugging Face would write them, parsed. Throws
 * MalformedGguf for what is not supported, by name.
 */
export function ggufTokenizerFiles({ metadata }: GgufContents): Record<string, Record<string, unknown>> {
  const read = new Metadata(metadata);
  const key = (name: string) => `tokenizer.ggml.${name}`;
  const kind = read.text(key('model'));
  if (kind !== 'gpt2')
    throw new MalformedGguf(`its tokenizer is ${quoted(kind ?? 'missing')}, supported is byte-level BPE ('gpt2')`);
  const pre = read.text(key('pre')) ?? 'default';
  const splitting = Object.hasOwn(splittings, pre) ? splittings[pre] : undefined;
  if (splitting === undefined) {
    const supported = Object.keys(splittings).join(', ');
    throw new MalformedGguf(`its tokenizer cuts text as ${quoted(pre)}, supported are ${supported}`);
  }
  const tokens = read.texts(key('tokens')) ?? [];
  const kinds = read.numbers(key('token_type')) ?? tokens.map(() => 1);
  const merges = read.texts(key('merges')) ?? [];
  if (tokens.length === 0 || kinds.length !== tokens.length)
    throw new MalformedGguf(`its tokenizer has ${tokens.length} tokens and ${kinds.length} kinds of them`);
  const isAdded = (id: number) => kinds[id] === control || kinds[id] === userDefined;
  const added = [...tokens.entries()].filter(([id, content]) => isAdded(id) && content !== '');
  const plain = [...tokens.entries()].filter(([id]) => !isAdded(id));
  const byteLevel = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: splitting.gpt2 };
  const tokenizer = {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: added.map(([id, content]) => {
      const plainly = { single_word: false, lstrip: false, rstrip: false, normalized: false };
      return { id, content, ...plainly, special: kinds[id] === control };
    }),
    normalizer: splitting.composed ? { type: 'NFC' } : null,
    pre_tokenizer: { type: 'Sequence', pretokenizers: [...splitting.cuts, byteLevel] },
    post_processor: null,
    decoder: { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true },
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: splitting.wholeFirst ?? false,
      vocab: Object.fromEntries(plain.map(([id, content]) => [content, id])),
      merges: merges.map((merge) => splitMerge(merge)),
    },
  };
  const named = (name: string) => {
    const id = read.whole(key(`${name}_token_id`));
    if (id !== undefined && !(id in tokens)) throw new MalformedGguf(`its ${name} token is ${id} of ${tokens.length}`);
    return id;
  };
  const textOf = (name: string) => tokens[named(name) ?? -1] ?? null;
  const template = read.text('tokenizer.chat_template');
  const ends = [named('eos'), named('eot')].filter((id) => id !== undefined);
  return {
    'tokenizer.json': tokenizer,
    'tokenizer_config.json': {
      tokenizer_class: 'PreTrainedTokenizerFast',
      bos_token: textOf('bos'),
      eos_token: textOf('eos'),
      unk_token: textOf('unknown'),
      pad_token: textOf('padding'),
      clean_up_tokenization_spaces: false,
      ...(template === undefined ? {} : { chat_template: template }),
    },
    'generation_config.json': { eos_token_id: [...new Set(ends)] },
  };
}

/** `left right`; the mapping of bytes to characters leaves no space inside a part. */
function splitMerge(merge: string): [string, string] {
  const at = merge.indexOf(' ', 1);
  if (at < 0) throw new MalformedGguf(`its tokenizer has the merge ${quoted(merge)}`);
  return [merge.slice(0, at), merge.slice(at + 1)];
}
