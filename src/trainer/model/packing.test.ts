import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { longestTrunk, planBatches, type PackingLimits, type PlannedBatch } from './packing.js';
import type { TrainingSequence } from './policy.js';

const limits: PackingLimits = {
  tokens: (past) => (past < 20 ? 24 : 16),
  recomputedTokens: (past) => (past < 20 ? 32 : 20),
  targets: 6,
  multiple: 4,
  attentionCost: 1e-3,
  maxPositions: 40,
  vocabularySize: 100,
};

/** Few different ids, so that many sequences begin alike. */
const sequence = fc
  .array(fc.tuple(fc.nat(1), fc.boolean()), { minLength: 1, maxLength: 40 })
  .map((tokens): TrainingSequence => ({
    tokenIds: Int32Array.from(tokens, ([id]) => id),
    actionMask: Uint8Array.from(tokens, ([, asked], place) => Number(asked && place > 0)),
  }));

/** Every micro-batch with the ids before its rows. */
function* withPast(
  plan: readonly PlannedBatch[],
  past: readonly number[] = [],
): Generator<{
  planned: PlannedBatch;
  past: readonly number[];
}> {
  for (const planned of plan) {
    yield { planned, past };
    const { batch, children } = planned;
    if (children.length > 0) yield* withPast(children, [...past, ...batch.tokens.subarray(0, batch.filled)]);
  }
}

const repeated = (id: number, length: number, targets: readonly number[]): TrainingSequence => ({
  tokenIds: new Int32Array(length).fill(id),
  actionMask: Uint8Array.from({ length }, (_, place) => Number(targets.includes(place))),
});

describe('packing', () => {
  it('asks for every masked token exactly once, where exactly its own past is seen', () => {
    fc.assert(
      fc.property(fc.array(sequence, { maxLength: 8 }), (sequences) => {
        const asked: string[] = [];
        for (const { planned, past } of withPast(planBatches(sequences, limits))) {
          const { batch } = planned;
          for (const { target, sequence: index, place } of batch.askers) {
            asked.push(`${index}/${place}`);
            const { tokenIds } = sequences[index];
            expect(batch.targets[target]).toBe(tokenIds[place]);
            const row = Math.floor(batch.sources[target] / batch.length);
            const column = batch.sources[target] % batch.length;
            const cells = [...Array(column + 1).keys()].map((one) => row * batch.length + one);
            const seen = cells.filter((cell) => batch.reach[cell] >= column);
            expect([...past, ...seen.map((cell) => batch.tokens[cell])]).toEqual([...tokenIds.subarray(0, place)]);
            const positions = [...past.keys(), ...seen.map((cell) => batch.positions[cell])];
            expect(positions).toEqual([...Array(place).keys()]);
          }
        }
        const wanted = sequences.flatMap(({ actionMask }, index) =>
          [...actionMask.keys()].filter((place) => actionMask[place] === 1).map((place) => `${index}/${place}`),
        );
        expect(asked.sort()).toEqual(wanted.sort());
      }),
    );
  });

  it('keeps micro-batches within their limits, however long a sequence is', () => {
    fc.assert(
      fc.property(fc.array(sequence, { maxLength: 8 }), (sequences) => {
        const plan = planBatches(sequences, limits);
        for (const { planned, past } of withPast(plan)) {
          const { rows, length, targets } = planned.batch;
          expect(length % limits.multiple).toBe(0);
          const { recomputed } = planned.batch;
          const most = recomputed ? limits.recomputedTokens(past.length) : limits.tokens(past.length);
          expect(rows * length).toBeLessThanOrEqual(most);
          if (recomputed) expect(rows * length).toBeGreaterThan(limits.tokens(past.length));
          expect(targets.length).toBeLessThanOrEqual(limits.targets);
          if (planned.children.length > 0) expect(rows).toBe(1);
          const longest = past.length + (planned.children.length > 0 ? length : 0);
          expect(longest).toBeLessThanOrEqual(longestTrunk(plan));
        }
      }),
    );
  });

  it('lays short sequences side by side and leaves out what follows the last target', () => {
    const [{ batch, children }, ...more] = planBatches([repeated(4, 4, [3]), repeated(9, 9, [3])], {
      ...limits,
      multiple: 8,
    });
    expect([more, children]).toEqual([[], []]);
    expect([batch.rows, batch.length, batch.filled]).toEqual([1, 8, 6]);
    expect([...batch.tokens]).toEqual([4, 4, 4, 9, 9, 9, 0, 0]);
  });

  it('computes once what sequences have in common, and asks once for what they ask alike', () => {
    const make = (tail: number[]) => ({
      tokenIds: Int32Array.from([1, 2, 3, ...tail]),
      actionMask: Uint8Array.from([0, 0, 0, ...tail.map(() => 1)]),
    });
    const [{ batch }, ...more] = planBatches([make([4, 5]), make([4, 6]), make([7, 8])], limits);
    expect(more).toEqual([]);
    expect([...batch.tokens]).toEqual([1, 2, 3, 4, 7, 0, 0, 0]);
    expect([...batch.reach]).toEqual([4, 4, 4, 3, 4, 5, 6, 7]);
    expect([...batch.positions].slice(0, 5)).toEqual([0, 1, 2, 3, 3]);
    expect([...batch.targets]).toEqual([4, 7, 5, 6, 8]);
    expect(batch.askers.filter(({ target }) => target === 0).map((asker) => asker.sequence)).toEqual([0, 1]);
  });

  it('lets what does not fit one micro-batch follow the tokens that it shares', () => {
    const prompt = Array<number>(12).fill(1);
    const rollouts = [2, 3, 4].map((id) => ({
      tokenIds: Int32Array.from([...prompt, ...Array<number>(10).fill(id)]),
      actionMask: Uint8Array.from([...prompt.map(() => 0), ...Array<number>(9).fill(0), 1]),
    }));
    const [trunk, ...more] = planBatches(rollouts, limits);
    expect(more).toEqual([]);
    expect([...trunk.batch.tokens]).toEqual(prompt);
    const below = trunk.children.flatMap(({ batch }) => [...batch.tokens]);
    for (const id of [2, 3, 4]) expect(below.filter((token) => token === id)).toHaveLength(9);
    expect(below).not.toContain(1);
  });

  it('computes again what would not fit otherwise, apart from what does', () => {
    const plan = planBatches([repeated(1, 20, [19]), repeated(2, 6, [5])], {
      ...limits,
      tokens: () => 8,
      recomputedTokens: () => 24,
    });
    const shapes = plan.map(({ batch: { recomputed, rows, length }, children }) => [
      recomputed,
      rows,
      length,
      children.length,
    ]);
    expect(shapes).toEqual([
      [false, 1, 8, 0],
      [true, 1, 20, 0],
    ]);
  });

  it('cuts what does not fit even then into pieces that are computed again, unless they would be no larger to speak of', () => {
    const pieces = (tokens: number, recomputedTokens: number) => {
      const found: [boolean, number][] = [];
      const sequence = repeated(1, 36, [35]);
      const pieceLimits = { ...limits, tokens: () => tokens, recomputedTokens: () => recomputedTokens };
      for (const { planned } of withPast(planBatches([sequence], pieceLimits))) {
        found.push([planned.batch.recomputed, planned.batch.filled]);
      }
      return found;
    };
    expect(pieces(4, 16)).toEqual([
      [true, 16],
      [true, 16],
      [false, 3],
    ]);
    expect(pieces(16, 18)).toEqual([
      [false, 16],
      [false, 16],
      [false, 3],
    ]);
  });

  it('refuses what cannot be asked', () => {
    const make = (ids: number[], mask: number[]) => [
      { tokenIds: Int32Array.from(ids), actionMask: Uint8Array.from(mask) },
    ];
    expect(() => planBatches(make([1, 2], [1, 0]), limits)).toThrow(/first token of sequence 0/);
    expect(() => planBatches(make([1, 2], [0]), limits)).toThrow(/2 tokens and a mask of 1/);
    expect(() => planBatches(make([1, 100], [0, 1]), limits)).toThrow(/outside the vocabulary of 100/);
  });
});
