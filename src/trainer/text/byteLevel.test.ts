import fc from 'fast-check';
import { expect, test } from 'vitest';
import { byteCharacters, fromByteCharacters, showBytes, toByteCharacters } from './byteLevel.js';

test('the alphabet is GPT-2’s', () => {
  expect(new Set(byteCharacters).size).toBe(256);
  expect(toByteCharacters(' \nA~\u00a0é')).toBe('ĠĊA~ÂłÃ©');
});

test('bytes survive the alphabet and back', () => {
  const everyByte = Uint8Array.from({ length: 256 }, (_, byte) => byte);
  expect(fromByteCharacters(byteCharacters.join(''))).toEqual(everyByte);
  expect(fromByteCharacters('a b')).toBeNull();
});

test('text shows as itself, parts of characters as their bytes', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(showBytes(new TextEncoder().encode(text))).toBe(
        new TextDecoder('utf-8', { ignoreBOM: true }).decode(new TextEncoder().encode(text)),
      );
    }),
  );
  const smiley = [...new TextEncoder().encode('a😀')];
  expect(showBytes(Uint8Array.from(smiley.slice(0, 3)))).toBe('a\\xF0\\x9F');
  expect(showBytes(Uint8Array.from([...smiley.slice(3), 0x62]))).toBe('\\x98\\x80b');
  // Surrogates, overlong forms and stray bytes are no characters.
  expect(showBytes(Uint8Array.of(0xed, 0xa0, 0x80, 0xc0, 0x80, 0xff))).toBe('\\xED\\xA0\\x80\\xC0\\x80\\xFF');
});
