import fc from 'fast-check';
import { expect, test } from 'vitest';
import { KeyValueCache } from './generatorCache.js';
import type { LlamaConfig } from './llamaConfig.js';

const config: LlamaConfig = {
  vocabularySize: 8,
  hiddenSize: 4,
  intermediateSize: 4,
  layers: 2,
  heads: 2,
  keyValueHeads: 2,
  headDim: 2,
  ropeTheta: 10_000,
  rmsEpsilon: 1e-5,
  tieEmbeddings: true,
  maxPositions: 4096,
};
const rows = 3;

/** A number for each place, which says where it belongs. */
const mark = (row: number, position: number, layer: number, head: number, i: number) =>
  ((row * 4096 + position) * 2 + layer) * 4 + head * 2 + i;

function fill(cache: KeyValueCache, row: number, positions: readonly number[]): void {
  for (const position of positions) {
    for (const layer of [0, 1]) {
      const numbers = (sign: number) =>
        Float32Array.from({ length: 4 }, (_, at) => sign * mark(row, position, layer, at >> 1, at & 1));
      cache.write(row, position, layer, { keys: numbers(1), values: numbers(-1) }, 0, 1, 1);
    }
  }
}

function expectMarks(cache: KeyValueCache, row: number, length: number, as = row): void {
  for (let position = 0; position < length; position++) {
    for (const layer of [0, 1]) {
      for (const head of [0, 1]) {
        const at = ((row * 2 + head) * cache.capacity + position) * 2;
        const wanted = mark(as, position, layer, head, 1);
        expect([cache.keys[layer]![at + 1], cache.values[layer]![at + 1]]).toEqual([wanted, -wanted]);
      }
    }
  }
}

const upTo = (end: number) => [...Array(end).keys()];

test('keeps what it has through changes of its capacity, in its memory or in another', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1, maxLength: 6 }), (capacities) => {
      const cache = new KeyValueCache(config, rows, 40);
      for (const row of upTo(rows)) fill(cache, row, upTo(40));
      let kept = 40;
      for (const capacity of capacities) {
        cache.resize(capacity);
        kept = Math.min(kept, capacity);
        expect(cache.capacity).toBe(capacity);
        expect(cache.keys[0]).toHaveLength(rows * cache.rowSize);
        for (const row of upTo(rows)) expectMarks(cache, row, kept);
      }
    }),
    { numRuns: 30 },
  );
});

test('moves the rows in use alone', () => {
  const cache = new KeyValueCache(config, rows, 40);
  for (const row of upTo(rows)) fill(cache, row, upTo(40));
  for (const capacity of [50, 45, 900]) {
    cache.resize(capacity, 2);
    for (const row of upTo(2)) expectMarks(cache, row, 40);
  }
  expect(() => expectMarks(cache, 2, 40)).toThrow();
});

test('gives memory back where an eighth would do, and takes no more for a few positions more', () => {
  const cache = new KeyValueCache(config, rows, 2000);
  cache.resize(2010);
  const { bytes } = cache;
  cache.resize(2020);
  expect(cache.bytes).toBe(bytes);
  cache.resize(300);
  expect(cache.bytes).toBe(bytes);
  cache.resize(200);
  expect(cache.bytes).toBe(bytes / 8);
});

test('copies a part of a row, from another cache and within itself', () => {
  const [small, large] = [new KeyValueCache(config, 1, 10), new KeyValueCache(config, rows, 20)];
  fill(small, 0, upTo(10));
  large.copyRow(2, small, 0, 0, 4);
  large.copyRow(2, small, 0, 4, 10);
  expectMarks(large, 2, 10, 0);
  large.copyRow(0, large, 2, 0, 10);
  expectMarks(large, 0, 10, 0);
});
