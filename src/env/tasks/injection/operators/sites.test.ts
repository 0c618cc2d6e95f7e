import { describe, expect, it } from 'vitest';
import { applySite } from '../operator.js';
import { countSyntaxErrors, parseSource } from '../parsing.js';
import { OPERATORS } from './index.js';

describe('the sites of an operator', () => {
  it.each(['javascript', 'python'] as const)('are right after emoji and ideographs in %s', (language) => {
    const before = 'x = "😀漢字é🏳️‍🌈"; y = a < b';
    const [site] = OPERATORS.find(({ name }) => name === 'boundary')!.sites(parseSource(before, language));
    expect(applySite(before, site)).toBe('x = "😀漢字é🏳️‍🌈"; y = a <= b');
  });

  it('are right after a byte order mark', () => {
    const [site] = OPERATORS.find(({ name }) => name === 'boundary')!.sites(
      parseSource('\ufeffy = a < b', 'javascript'),
    );
    expect(applySite('\ufeffy = a < b', site)).toBe('\ufeffy = a <= b');
  });

  it.each(['javascript', 'typescript', 'python'] as const)(
    'are right in %s files far past the binding’s buffer',
    (language) => {
      const filler = 'x = "😀漢字"\n'.repeat(20_000);
      const source = parseSource(`${filler}y = a < b\n`, language);
      expect(countSyntaxErrors(source.root)).toBe(0);
      const [site] = OPERATORS.find(({ name }) => name === 'boundary')!.sites(source);
      expect(applySite(source.text, site).slice(filler.length)).toBe('y = a <= b\n');
    },
  );

  it('are none inside of a syntax error', () => {
    const source = parseSource('const = (a < b ;;\n', 'javascript');
    expect(OPERATORS.flatMap((operator) => operator.sites(source))).toEqual([]);
  });
});
