import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sampleToken, uniformStream } from './sampling.js';

const logits = Float32Array.of(1, 3, 2, 3, -5);
const all = { temperature: 1, topP: 1, topK: 0 };

function frequencies(options: Parameters<typeof sampleToken>[1], draws = 20_000): number[] {
  const uniform = uniformStream(7);
  const counts = new Array<number>(logits.length).fill(0);
  for (let i = 0; i < draws; i++) counts[sampleToken(logits, options, uniform()).id]!++;
  return counts.map((count) => count / draws);
}

const softmax = (values: readonly number[], temperature: number) => {
  const weights = values.map((value) => Math.exp(value / temperature));
  const total = weights.reduce((a, b) => a + b);
  return weights.map((weight) => weight / total);
};

describe('a sampled token', () => {
  test.each([0.5, 1, 2])('comes as often as the softmax at temperature %d says', (temperature) => {
    const expected = softmax([...logits], temperature);
    frequencies({ ...all, temperature }).forEach((share, id) => expect(share).toBeCloseTo(expected[id]!, 1.7));
  });

  test('has the log-probability and entropy of the whole softmax, also where top-k and top-p cut', () => {
    const expected = softmax([...logits], 0.7);
    const entropy = -expected.reduce((sum, p) => sum + p * Math.log(p), 0);
    for (const options of [all, { ...all, topK: 2 }, { ...all, topP: 0.3 }]) {
      const token = sampleToken(logits, { ...options, temperature: 0.7 }, 0.2);
      expect(token.logprob).toBeCloseTo(Math.log(expected[token.id]!), 6);
      expect(token.entropy).toBeCloseTo(entropy, 6);
    }
  });

  test('is the first greatest where greedy, with the log-probability of temperature 1', () => {
    const token = sampleToken(logits, { ...all, temperature: 0 }, 0.999);
    expect(token.id).toBe(1);
    expect(token.logprob).toBeCloseTo(Math.log(softmax([...logits], 1)[1]!), 6);
  });

  test('is one of the k most probable, lower ids first among equals', () => {
    expect(frequencies({ ...all, topK: 1 })).toEqual([0, 1, 0, 0, 0]);
    const shares = frequencies({ ...all, topK: 3 });
    expect([shares[0], shares[4]]).toEqual([0, 0]);
    expect(Math.min(shares[1]!, shares[2]!, shares[3]!)).toBeGreaterThan(0);
  });

  test('is one of the smallest set that holds probability p', () => {
    // Probabilities: 0.40, 0.40, 0.15, 0.05, 0.0001.
    expect(frequencies({ ...all, topP: 0.3 })).toEqual([0, 1, 0, 0, 0]);
    expect(frequencies({ ...all, topP: 0.7 }).map((share) => share > 0)).toEqual([false, true, false, true, false]);
    expect(frequencies({ ...all, topP: 0.9 }).map((share) => share > 0)).toEqual([false, true, true, true, false]);
  });

  test('is at least a share as probable as the likeliest', () => {
    // Shares of the likeliest: 0.14, 1, 0.37, 1, 0.0003.
    expect(frequencies({ ...all, minP: 0.5 }).map((share) => share > 0)).toEqual([false, true, false, true, false]);
    expect(frequencies({ ...all, minP: 0.1 }).map((share) => share > 0)).toEqual([true, true, true, true, false]);
    expect(frequencies({ ...all, minP: 1 })).toEqual(frequencies({ ...all, topK: 2 }));
    const token = sampleToken(logits, { ...all, minP: 0.5 }, 0.2);
    expect(token.logprob).toBeCloseTo(Math.log(softmax([...logits], 1)[token.id]!), 6);
  });

  test('is the one that sorting the whole vocabulary gives', () => {
    // Of a few values, so that many are equal.
    const values = fc.array(fc.integer({ min: -40, max: 40 }), { minLength: 1, maxLength: 200 });
    const unit = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(values, unit, fc.nat(200), unit, unit, (list, u, topK, topP, minP) => {
        const weights = softmax(list, 1);
        const falling = [...list.keys()].sort((a, b) => list[b]! - list[a]! || a - b);
        const likely = falling.filter((id) => weights[id]! >= minP * weights[falling[0]!]! * (1 - 1e-9));
        const candidates = topK > 0 && topK < list.length ? likely.slice(0, topK) : likely;
        const sum = (ids: readonly number[]) => ids.reduce((total, id) => total + weights[id]!, 0);
        const [kept, sums] = [sum(candidates), candidates.map((_, index) => sum(candidates.slice(0, index + 1)))];
        const nucleus = Math.max(1, 1 + sums.findIndex((total) => total >= topP * kept));
        const place = sums.findIndex((total) => total > u * sums[nucleus - 1]!);
        const edges = [
          ...sums.map((total) => total / kept - topP),
          ...sums.map((total) => total / sums[nucleus - 1]! - u),
        ];
        // What rounding decides is left out.
        fc.pre(edges.every((edge) => Math.abs(edge) > 1e-9));
        const cut = topK > 0 && topK < list.length ? true : topP < 1 || minP > 0;
        fc.pre(cut);
        const { id } = sampleToken(Float32Array.from(list), { temperature: 1, topP, topK, minP }, u);
        expect(id).toBe(candidates[place]);
      }),
    );
  });

  test('never has probability 0, whatever the logits and the random number', () => {
    const values = fc.array(fc.float({ min: -1000, max: 1000, noNaN: true }), { minLength: 1, maxLength: 40 });
    const unit = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(
        values,
        unit,
        fc.nat(5),
        fc.double({ min: 0.01, max: 1, noNaN: true }),
        unit,
        (list, u, topK, topP, minP) => {
          const token = sampleToken(Float32Array.from(list), { temperature: 0.8, topP, topK, minP }, u);
          expect(token.id).toBeLessThan(list.length);
          expect(token.logprob).toBeGreaterThan(-746);
          expect(token.logprob).toBeLessThanOrEqual(0);
          expect(token.entropy).toBeLessThanOrEqual(Math.log(list.length) + 1e-9);
        },
      ),
    );
  });
});

describe('a stream of uniform numbers', () => {
  const take = (seed: number, count: number) => {
    const uniform = uniformStream(seed);
    return Array.from({ length: count }, () => uniform());
  };

  test('is the same for the same seed, and another for another, also above 2^32', () => {
    expect(take(1, 5)).toEqual(take(1, 5));
    const firsts = [0, 1, 2, 2 ** 32, 2 ** 32 + 1, 2 ** 40].map((seed) => take(seed, 1)[0]);
    expect(new Set(firsts).size).toBe(firsts.length);
  });

  test('fills [0, 1) evenly, and neighbouring seeds are not alike', () => {
    const bins = new Array<number>(10).fill(0);
    for (const u of take(3, 100_000)) bins[Math.floor(u * 10)]!++;
    for (const count of bins) expect(Math.abs(count - 10_000)).toBeLessThan(500);
    const firsts = Array.from({ length: 10_000 }, (_, seed) => take(seed, 1)[0]!);
    const mean = firsts.reduce((a, b) => a + b) / firsts.length;
    expect(Math.abs(mean - 0.5)).toBeLessThan(0.02);
    const lag = firsts.slice(1).reduce((sum, u, i) => sum + (u - 0.5) * (firsts[i]! - 0.5), 0) / firsts.length;
    expect(Math.abs(lag * 12)).toBeLessThan(0.05);
  });
});
