import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Tokenizer } from '@huggingface/tokenizers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { byteCharacters } from '../byteLevel.js';
import { preTokenize } from './preTokenizer.js';
import { trainByteLevelBpe } from './trainByteLevelBpe.js';
import { chatTokens, writeTokenizerFiles } from './writeTokenizerFiles.js';

const source = `/** Adds. */
export function addNumbers(first_value, secondValue) {
    if (first_value === undefined) return 0;
    return first_value + secondValue;
}
`;
const boilerplate = '<tool_call>\n{"name": "open", "arguments": {"path": "src/a.js"}}\n</tool_call>';
const texts = [...Array<string>(20).fill(source), ...Array<string>(20).fill(boilerplate)];
const train = (vocabularySize: number) => trainByteLevelBpe(texts, { vocabularySize, specialTokens: chatTokens });

describe('pre-tokens', () => {
  test('laid end to end are the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(preTokenize(text).join('')).toBe(text);
      }),
    );
  });

  test('of a tool call are its boilerplate and its words', () => {
    const edit =
      '<tool_call>\n{"name": "edit", "arguments": {"path": "a.js", "old": "x \\"y\\"", "new": "z"}}\n</tool_call>';
    expect(preTokenize(`<think>\nhm\n</think>\n${edit}`)).toEqual([
      ...['<think>\n', 'hm', '\n', '</think>\n'],
      ...[
        '<tool_call>\n{"name": "edit", "arguments": {"path": "',
        'a',
        '.js',
        '", "old": "',
        'x',
        ' ',
        '\\"',
        'y',
        '\\"',
      ],
      ...['", "new": "', 'z', '"}}\n</tool_call>'],
    ]);
    expect(preTokenize('<tool_call>\n{"name": "run_tests", "arguments": {}}\n</tool_call>')).toEqual([
      '<tool_call>\n{"name": "run_tests", "arguments": {',
      '}}\n</tool_call>',
    ]);
  });

  test('of a line are the same where it is shown and where it is quoted', () => {
    const shown = preTokenize('12:     return countOf(a, "b");\n');
    const quoted = preTokenize(`"old": "    return countOf(a, \\"b\\");"`);
    expect(shown.slice(0, 4)).toEqual(['1', '2', ': ', '    ']);
    const words = (pieces: string[]) => pieces.filter((piece) => /[a-z]|^ +$/i.test(piece));
    expect(words(shown)).toEqual(words(quoted.slice(quoted.indexOf('    '))));
  });

  test('of identifiers are their words, of numbers their digits', () => {
    expect(preTokenize('parseHTTPHeader_v2 = __init__.fooBar')).toEqual([
      'parse',
      'HTTP',
      'Header',
      '_v',
      '2',
      ' =',
      ' ',
      '__',
      'init',
      '__',
      '.foo',
      'Bar',
    ]);
  });
});

describe('a trained tokenizer', () => {
  test('has the special tokens, the bytes and then the merges, up to the size asked for', () => {
    const { model, added_tokens: added } = train(300);
    const ids = Object.values(model.vocab).sort((a, b) => a - b);
    expect(ids).toEqual(Array.from({ length: 300 }, (_, id) => id));
    expect(added.map(({ id, content }) => [id, content])).toEqual([...chatTokens.entries()]);
    expect(model.merges).toHaveLength(300 - 256 - 3);
  });

  test('merges the most frequent pair first, lower ids first among equals', () => {
    const merges = (text: string) =>
      trainByteLevelBpe([text], { vocabularySize: 256 + 2, specialTokens: [] }).model.merges;
    expect(merges('abc abc abd')).toEqual([
      ['a', 'b'],
      ['Ġ', 'ab'],
    ]);
    expect(merges('cd\nab\ncd\nab')[0]).toEqual(['a', 'b']);
    // In aaaa the pair occurs where it is replaced, not at every place.
    expect(merges('aaaa aaaa')).toEqual([
      ['a', 'a'],
      ['aa', 'aa'],
    ]);
  });

  test('is the same for the same texts', () => {
    expect(train(400)).toEqual(train(400));
  });

  test('makes boilerplate one token', () => {
    const tokenizer = new Tokenizer(train(700), {});
    const { tokens } = tokenizer.encode(boilerplate, { add_special_tokens: false });
    expect(tokens[0]).toContain('<tool_call>');
    expect(tokens[0]).toContain('path');
    expect(tokens.length).toBeLessThan(9);
  });

  test('is read by the library, which applies the merges in order', () => {
    const json = train(500);
    const tokenizer = new Tokenizer(json, {});
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.nat(40), (noise, cut) => {
        const text = source.slice(cut) + noise;
        const { ids } = tokenizer.encode(text, { add_special_tokens: false });
        expect(ids).toEqual(applyMerges(json, text));
      }),
    );
  });

  test('is written in the layout that a checkpoint has', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tokenizer-'));
    try {
      await writeTokenizerFiles(folder, train(300));
      const read = async (name: string) => JSON.parse(await readFile(join(folder, name), 'utf8')) as unknown;
      expect(await read('tokenizer.json')).toEqual(train(300));
      expect(await read('generation_config.json')).toEqual({ eos_token_id: 2, pad_token_id: 0 });
      expect(await read('tokenizer_config.json')).toMatchObject({
        eos_token: '<|im_end|>',
        pad_token: '<|endoftext|>',
      });
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

/** BPE by its definition: in each pre-token, the pair of the earliest merge is joined until there is none. */
function applyMerges(json: ReturnType<typeof train>, text: string): number[] {
  const rank = new Map(json.model.merges.map((pair, index) => [pair.join(' '), index]));
  return preTokenize(text).flatMap((piece) => {
    let parts = Array.from(new TextEncoder().encode(piece), (byte) => byteCharacters[byte]!);
    for (;;) {
      const ranks = parts.slice(1).map((part, i) => rank.get(`${parts[i]} ${part}`) ?? Infinity);
      const best = Math.min(...ranks);
      if (!Number.isFinite(best)) return parts.map((part) => json.model.vocab[part]!);
      const at = ranks.indexOf(best);
      parts = [...parts.slice(0, at), parts[at]! + parts[at + 1]!, ...parts.slice(at + 2)];
    }
  });
}
