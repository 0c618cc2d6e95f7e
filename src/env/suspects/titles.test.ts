import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bareTitle, fits, writtenTitle } from './titles.js';

describe('titles', () => {
  it.each([
    ['adds', 'adds', true],
    ['adds', 'adds more', false],
    ['adds %s and %i', 'adds a and 1', true],
    ['adds $name', 'adds it (twice)', true],
    ['adds ${one + two} up', 'adds 3 up', true],
    ['adds ${one} up', 'adds 3 down', false],
    ['%sab%sab', 'ab', false],
    ['%sab%sab', 'abab', true],
    ['a.c', 'abc', false],
    ["it\\'s", "it's", true],
    ['  two\\n  lines ', 'two lines', true],
    ['', 'a', false],
    [`${'x'.repeat(500)}y`, `${'x'.repeat(500)}z`, true],
  ])('written as %j fit %j: %j', (written, title, does) => {
    expect(fits(writtenTitle(written), title)).toBe(does);
  });

  it('fit what is filled into them, whatever it is', () => {
    const piece = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '.', '*', '(', '\\', '\u{1F600}'), maxLength: 6 });
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1, maxLength: 6 }), piece, (pieces, filling) => {
        expect(fits(pieces, pieces.join(filling))).toBe(true);
        const pattern = pieces.map((one) => one.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('.*');
        expect(fits(pieces, filling)).toBe(new RegExp(`^${pattern}$`, 's').test(filling));
      }),
    );
  });

  it('made to be slow are not', () => {
    const title = writtenTitle(`${'%sa'.repeat(160)}b`);
    expect(fits(title, 'a'.repeat(100_000))).toBe(false);
    expect(bareTitle('['.repeat(100_000))).toBe('['.repeat(100_000));
  });

  it.each([
    ['test_a[1-2]', 'test_a'],
    ['test_a[[x]]', 'test_a'],
    ['adds(int, int)[2]', 'adds'],
    ['adds #2', 'adds'],
    ['[only]', '[only]'],
    ['adds', 'adds'],
  ])('of runners as %j are bare as %j', (title, bare) => {
    expect(bareTitle(title)).toBe(bare);
  });
});
