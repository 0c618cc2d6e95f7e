import { afterEach, expect, it } from 'vitest';
import { badInput } from '../trajectory/errors.js';
import { say } from '../trajectory/said.js';
import { lineOf } from './lineOf.js';
import { useTranslations } from './translate.js';

afterEach(() => useTranslations({}));

const error = badInput(say`${'a\nb'} is no file.`, 'Name a file.');

it('an error of the engine is one line in the language of the editor, and English in the log', () => {
  useTranslations({ '{0} is no file.': '{0} 不是文件。', 'Name a file.': '请指定文件。', '{0} {1}': '{0}{1}' });
  expect(lineOf(error)).toBe('a b 不是文件。请指定文件。');
  expect(String(error)).toBe('WhetstoneError: a\nb is no file.');
});

it('an error without a translation, and any other, is told as it stands', () => {
  expect(lineOf(error)).toBe('a b is no file. Name a file.');
  expect(lineOf(new Error('one\n two'))).toBe('one two');
  expect(lineOf('three')).toBe('three');
});
