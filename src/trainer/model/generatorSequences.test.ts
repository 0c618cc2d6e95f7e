import { describe, expect, test } from 'vitest';
import { type CachedSequence, SequenceStore } from './generatorSequences.js';
import type { LlamaConfig } from './llamaConfig.js';

const config: LlamaConfig = {
  vocabularySize: 8,
  hiddenSize: 4,
  intermediateSize: 4,
  layers: 1,
  heads: 2,
  keyValueHeads: 2,
  headDim: 2,
  ropeTheta: 10_000,
  rmsEpsilon: 1e-5,
  tieEmbeddings: true,
  maxPositions: 1024,
};

const tokens = (length: number, seed = 0) =>
  Int32Array.from({ length }, (_, i) => (i * i + seed * (i > 100 ? 1 : 0)) % 8);

/** As if the tokens had been computed: the position is the value of every number in the cache. */
function fill(sequence: CachedSequence, tokenIds: Int32Array, prompt = true): void {
  const start = sequence.tokens.length;
  sequence.reserve(tokenIds.length);
  for (let i = start; i < tokenIds.length; i++) {
    const output = { keys: new Float32Array(4).fill(i), values: new Float32Array(4).fill(i) };
    sequence.cache.write(0, i, 0, output, 0, 1, 1);
    sequence.tokens.push(tokenIds[i]!);
  }
  if (prompt) sequence.asPrompt = tokenIds.length;
  sequence.busy = false;
}

function expectPositions(sequence: CachedSequence): void {
  const { keys, values, capacity } = sequence.cache;
  sequence.tokens.forEach((_, i) => {
    for (const { 0: numbers } of [keys, values])
      for (let head = 0; head < 2; head++) expect(numbers![(head * capacity + i) * 2 + 1]).toBe(i);
  });
}

describe('a session', () => {
  test('finds what it shares with its last request, the last token aside', () => {
    const store = new SequenceStore(config, 1e9);
    fill(store.open('a', tokens(300)), tokens(300));
    const again = store.open('a', tokens(300));
    expect(again.tokens).toHaveLength(299);
    expectPositions(again);
    again.busy = false;
    // From position 101 on another seed makes other tokens.
    expect(store.open('a', tokens(300, 1)).tokens).toHaveLength(101);
  });

  test('takes whole pieces of another session’s prompt', () => {
    const store = new SequenceStore(config, 1e9);
    fill(store.open('a', tokens(300)), tokens(300));
    const other = store.open('b', tokens(400, 1));
    expect([other.tokens.length, other.asPrompt]).toEqual([64, 64]);
    expectPositions(other);
    expect(store.open('c', tokens(300)).tokens).toHaveLength(256);
  });

  test('takes nothing that another session sampled', () => {
    const store = new SequenceStore(config, 1e9);
    const first = store.open('a', tokens(70));
    fill(first, tokens(70));
    fill(first, tokens(300), false);
    expect(store.open('b', tokens(300)).tokens).toHaveLength(64);
  });

  test('keeps its own where that is longer', () => {
    const store = new SequenceStore(config, 1e9);
    fill(store.open('a', tokens(200)), tokens(200));
    const mine = store.open('b', tokens(90));
    fill(mine, tokens(90), false);
    expect(store.open('b', tokens(120)).tokens).toHaveLength(90);
  });

  test('starts afresh after release and clear', () => {
    const store = new SequenceStore(config, 1e9);
    fill(store.open('a', tokens(50)), tokens(50));
    store.release('a');
    fill(store.open('a', tokens(50)), tokens(50));
    store.clear();
    expect(store.open('a', tokens(50)).tokens).toHaveLength(0);
  });
});

test('the sessions used longest ago are forgotten where memory is short, busy ones never', () => {
  const store = new SequenceStore(config, 2 * (2 * 4 * 128 * 4));
  store.open('busy', tokens(10));
  fill(store.open('old', tokens(20, 1)), tokens(20));
  fill(store.open('new', tokens(30, 2)), tokens(30));
  store.open('another', tokens(10));
  expect(store.isBusy('busy')).toBe(true);
  expect(store.open('new', tokens(30)).tokens).toHaveLength(29);
  expect(store.open('old', tokens(20)).tokens).toHaveLength(0);
});
