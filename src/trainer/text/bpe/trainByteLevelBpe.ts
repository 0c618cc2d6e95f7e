import { byteCharacters } from '../byteLevel.js';
import { PairHeap } from './pairHeap.js';
import { preTokenize, preTokenizerPattern } from './preTokenizer.js';

export interface TrainingOptions {
  /** Special tokens, the 256 bytes and merges together. Fewer where the texts hold no pair twice. */
  readonly vocabularySize: number;
  /** Take the first ids, in this order. */
  readonly specialTokens: readonly string[];
}

/** A byte-level BPE tokenizer as Hugging Face's tokenizer.json holds it. */
export interface TokenizerJson {
  readonly version: '1.0';
  readonly truncation: null;
  readonly padding: null;
  readonly added_tokens: readonly {
    readonly id: number;
    readonly content: string;
    readonly single_word: boolean;
    readonly lstrip: boolean;
    readonly rstrip: boolean;
    readonly normalized: boolean;
    readonly special: boolean;
  }[];
  readonly normalizer: null;
  readonly pre_tokenizer: Readonly<Record<string, unknown>>;
  readonly post_processor: Readonly<Record<string, unknown>>;
  readonly decoder: Readonly<Record<string, unknown>>;
  readonly model: {
    readonly type: 'BPE';
    readonly vocab: Readonly<Record<string, number>>;
    readonly merges: readonly (readonly [string, string])[];
    readonly [option: string]: unknown;
  };
}

/** A distinct pre-token: its tokens so far, and how often it occurs. */
interface Word {
  tokens: number[];
  readonly count: number;
}

/**
 * Trains a byte-level BPE (Sennrich et al. 2016, arXiv 1508.07909): starting from bytes, the most frequent adjacent
 * pair becomes a token, again and again; of equally frequent pairs, the one of lower ids. The same texts give the
 * same tokenizer.
 */
export function trainByteLevelBpe(texts: Iterable<string>, options: TrainingOptions): TokenizerJson {
  const tokens = [...options.specialTokens, ...byteCharacters];
  const words = countWords(texts, options.specialTokens);
  const merges = mergePairs(words, tokens, options.specialTokens.length, options.vocabularySize);
  return tokenizerJson(tokens, merges, options.specialTokens);
}

function countWords(texts: Iterable<string>, specialTokens: readonly string[]): Word[] {
  const counts = new Map<string, number>();
  for (const text of texts) {
    let parts = [text];
    for (const special of specialTokens) parts = parts.flatMap((part) => part.split(special));
    for (const part of parts) for (const piece of preTokenize(part)) counts.set(piece, (counts.get(piece) ?? 0) + 1);
  }
  const firstByte = specialTokens.length;
  const utf8 = new TextEncoder();
  return [...counts].map(([piece, count]) => ({
    tokens: Array.from(utf8.encode(piece), (byte) => firstByte + byte),
    count,
  }));
}

/** Grows `tokens` up to `vocabularySize` by merges, which are returned in order. */
function mergePairs(
  words: readonly Word[],
  tokens: string[],
  firstByte: number,
  vocabularySize: number,
): [string, string][] {
  const pairs = new PairHeap();
  words.forEach((word, index) => {
    for (let i = 0; i + 1 < word.tokens.length; i++) pairs.add(word.tokens[i]!, word.tokens[i + 1]!, word.count, index);
  });
  const merges: [string, string][] = [];
  const known = new Set(tokens.slice(firstByte));
  while (tokens.length < vocabularySize) {
    const best = pairs.takeMostFrequent();
    if (best === null) break;
    const { left, right } = best;
    const merged = tokens[left]! + tokens[right]!;
    // Two ways to the same token would give it two ids.
    if (known.has(merged)) continue;
    known.add(merged);
    const id = tokens.push(merged) - 1;
    merges.push([tokens[left]!, tokens[right]!]);
    for (const index of best.words) mergeInWord(words[index]!, index, left, right, id, pairs);
  }
  return merges;
}

/** Replaces the pair by its token in one word and moves the counts of the pairs around it. */
function mergeInWord(word: Word, index: number, left: number, right: number, id: number, pairs: PairHeap): void {
  const old = word.tokens;
  const next: number[] = [];
  for (let i = 0; i < old.length; i++) {
    if (old[i] === left && old[i + 1] === right) {
      next.push(id);
      i++;
    } else next.push(old[i]!);
  }
  if (next.length === old.length) return;
  for (let i = 0; i + 1 < old.length; i++) pairs.add(old[i]!, old[i + 1]!, -word.count, index);
  for (let i = 0; i + 1 < next.length; i++) pairs.add(next[i]!, next[i + 1]!, word.count, index);
  word.tokens = next;
}

function tokenizerJson(
  tokens: readonly string[],
  merges: readonly [string, string][],
  specialTokens: readonly string[],
): TokenizerJson {
  const byteLevel = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false };
  const split = { type: 'Split', pattern: { Regex: preTokenizerPattern }, behavior: 'Isolated', invert: false };
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: specialTokens.map((content, id) => ({
      id,
      content,
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
      special: true,
    })),
    normalizer: null,
    pre_tokenizer: { type: 'Sequence', pretokenizers: [split, byteLevel] },
    post_processor: byteLevel,
    decoder: byteLevel,
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: false,
      vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
      merges,
    },
  };
}
