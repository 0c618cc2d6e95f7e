import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchingBlocks } from '../../env/reward/ratio.js';
import { alignedPieces } from './alignedPieces.js';

describe('the pieces of two aligned texts', () => {
  it('are the texts, and each block reads the same on both sides', () => {
    const text = fc.array(fc.constantFrom('a', 'b', '\n', '😀'), { maxLength: 30 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, text, (a, b) => {
        const blocks = matchingBlocks(a, b);
        const mine = alignedPieces(
          a,
          blocks.map(({ a: start, length }) => ({ start, length })),
        );
        const theirs = alignedPieces(
          b,
          blocks.map(({ b: start, length }) => ({ start, length })),
        );
        expect(mine.map((piece) => piece.text).join('')).toBe(a);
        expect(theirs.map((piece) => piece.text).join('')).toBe(b);
        const common = (pieces: typeof mine) => pieces.filter(({ block }) => block !== null);
        expect(common(mine)).toEqual(common(theirs));
        expect(common(mine)).toHaveLength(blocks.length);
      }),
    );
  });
});
