import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { packSequences, type PackingLimits } from './packing.js';
import type { TrainingSequence } from './policy.js';

const limits: PackingLimits = { tokens: 32, targets: 6, multiple: 4, maxPositions: 40, vocabularySize: 100 };

const sequence = fc
  .array(fc.tuple(fc.nat(99), fc.boolean()), { minLength: 1, maxLength: 40 })
  .map((tokens): TrainingSequence => ({
    tokenIds: Int32Array.from(tokens, ([id]) => id),
    actionMask: Uint8Array.from(tokens, ([, asked], place) => Number(asked && place > 0)),
  }));

describe('packing', () => {
  it('asks for every masked token exactly once, with its whole past and nothing else in its segment', () => {
    fc.assert(
      fc.property(fc.array(sequence, { maxLength: 8 }), (sequences) => {
        const asked: string[] = [];
        for (const batch of packSequences(sequences, limits)) {
          batch.targets.forEach((id, target) => {
            const [index, place] = [batch.sequences[target], batch.places[target]];
            asked.push(`${index}/${place}`);
            const { tokenIds } = sequences[index];
            expect(id).toBe(tokenIds[place]);
            const end = batch.sources[target] + 1;
            const start = end - place;
            expect(Math.floor(start / batch.length)).toBe(Math.floor((end - 1) / batch.length));
            expect([...batch.tokens.subarray(start, end)]).toEqual([...tokenIds.subarray(0, place)]);
            expect([...batch.positions.subarray(start, end)]).toEqual([...Array(place).keys()]);
            expect(new Set(batch.segments.subarray(start, end)).size).toBe(1);
            expect(start === 0 || batch.segments[start - 1] !== batch.segments[start]).toBe(true);
          });
        }
        const wanted = sequences.flatMap(({ actionMask }, index) =>
          [...actionMask.keys()].filter((place) => actionMask[place] === 1).map((place) => `${index}/${place}`),
        );
        expect(asked.sort()).toEqual(wanted.sort());
      }),
    );
  });

  it('keeps micro-batches within their limits; a longer sequence has one of its own', () => {
    fc.assert(
      fc.property(fc.array(sequence, { maxLength: 8 }), (sequences) => {
        for (const { rows, length, targets } of packSequences(sequences, limits)) {
          expect(length % limits.multiple).toBe(0);
          expect(rows === 1 || rows * length <= limits.tokens).toBe(true);
          expect(targets.length).toBeGreaterThan(0);
          expect(targets.length).toBeLessThanOrEqual(limits.targets);
        }
      }),
    );
  });

  it('lays short sequences side by side and leaves out what follows the last target', () => {
    const short = (length: number): TrainingSequence => ({
      tokenIds: new Int32Array(length).fill(length),
      actionMask: Uint8Array.from({ length }, (_, place) => Number(place === 3)),
    });
    const [batch, ...more] = packSequences([short(4), short(9)], { ...limits, multiple: 8 });
    expect(more).toEqual([]);
    expect([batch.rows, batch.length]).toEqual([1, 8]);
    expect([...batch.tokens]).toEqual([4, 4, 4, 9, 9, 9, 0, 0]);
    expect([...batch.segments]).toEqual([1, 1, 1, 2, 2, 2, 0, 0]);
    expect([...batch.positions]).toEqual([0, 1, 2, 0, 1, 2, 0, 0]);
    expect([...batch.sources]).toEqual([2, 5]);
  });

  it('refuses what cannot be asked', () => {
    const make = (ids: number[], mask: number[]) => [
      { tokenIds: Int32Array.from(ids), actionMask: Uint8Array.from(mask) },
    ];
    expect(() => packSequences(make([1, 2], [1, 0]), limits)).toThrow(/first token of sequence 0/);
    expect(() => packSequences(make([1, 2], [0]), limits)).toThrow(/2 tokens and a mask of 1/);
    expect(() => packSequences(make([1, 100], [0, 1]), limits)).toThrow(/outside the vocabulary of 100/);
  });
});
