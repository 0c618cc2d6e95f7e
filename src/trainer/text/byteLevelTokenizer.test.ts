import { expect, it } from 'vitest';
import { trainByteLevelBpe } from './bpe/trainByteLevelBpe.js';
import { ByteLevelTokenizer } from './byteLevelTokenizer.js';

const json = trainByteLevelBpe(['the tests fail'], { vocabularySize: 260, specialTokens: ['<|im_end|>'] });

it("a stranger's regular expression that tries every way through a text is ended, with the place named", () => {
  const split = { type: 'Split', pattern: { Regex: '(a+)+b' }, behavior: 'Isolated', invert: false };
  const hostile = { ...json, pre_tokenizer: { type: 'Sequence', pretokenizers: [split, json.pre_tokenizer] } };
  const tokenizer = new ByteLevelTokenizer(hostile, {}, 'here', 100);
  expect(tokenizer.decode(tokenizer.encode('aaab'))).toBe('aaab');
  const refusal = /the tokenizer 'here': it takes more than 0\.1 s for a text of 40 characters/;
  expect(() => tokenizer.encode('a'.repeat(40))).toThrow(refusal);
});
