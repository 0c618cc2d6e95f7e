import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { checksum, goldenPair } from './goldenPairs.testing.js';
import { matchingBlocks, ratio, ratioAndCost } from './ratio.js';

const [sum, ...rows] = readFileSync(new URL('../../../scripts/golden/ratio.txt', import.meta.url), 'utf8').split('\n');
const golden = rows.join('').match(/.{16}/g) ?? [];

const text = (points: readonly number[]) => points.map((point) => String.fromCodePoint(point)).join('');

function bitsOf(value: number): string {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  return bytes.toString('hex');
}

describe("the ratio and Python's difflib", () => {
  it('give the same bits on 10,000 generated pairs', { timeout: 60_000 }, () => {
    expect(golden).toHaveLength(10_000);
    let total = 2166136261;
    const differing: unknown[] = [];
    for (const [index, wanted] of golden.entries()) {
      const [a, b] = goldenPair(index);
      total = checksum(checksum(total, a), b);
      const got = bitsOf(ratio(text(a), text(b)));
      if (got !== wanted) differing.push({ index, got, wanted });
    }
    expect(total.toString(16).padStart(8, '0')).toBe(sum);
    expect(differing).toEqual([]);
  });
});

describe("the matching blocks and Python's difflib", () => {
  it('are the same', () => {
    const file = new URL('../../../scripts/golden/blocks.txt', import.meta.url);
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    const pairs = lines.map((line) => JSON.parse(line) as { a: string; b: string; blocks: number[][] });
    expect(pairs).toHaveLength(300);
    for (const { a, b, blocks } of pairs) {
      const found = matchingBlocks(a, b);
      expect(found.map((block) => [block.a, block.b, block.length])).toEqual(blocks);
      const total = [...a].length + [...b].length;
      const matched = found.reduce((sum, { length }) => sum + length, 0);
      expect(total === 0 ? 1 : (2 * matched) / total).toBe(ratio(a, b));
    }
  });
});

/** Blocks of lengths depth, depth - 1, …, 1, each inside of what the one before leaves: the deepest that a search can go. */
function nestedBlocks(depth: number): readonly [a: string, b: string] {
  const block = (length: number, first: number) =>
    text(Array.from({ length }, (_, at) => first + length * 1000 + (at % 997)));
  const lengths = Array.from({ length: depth }, (_, index) => depth - index);
  const noise = text(Array.from({ length: 20_000 }, (_, at) => 0x40000 + at));
  const otherNoise = text(Array.from({ length: 20_000 }, (_, at) => 0x60000 + at));
  return [
    lengths.map((length) => block(length, 0x10000)).join('a') + noise,
    lengths.map((length) => block(length, 0x10000)).join('b') + otherNoise,
  ];
}

function fibonacciWord(length: number): string {
  let [shorter, longer] = ['a', 'ab'];
  while (longer.length < length) [shorter, longer] = [longer, longer + shorter];
  return longer.slice(0, length);
}

/** Symbols that a hash by one fixed factor puts side by side, for each of some usual factors. */
function collidingSymbols(wanted: number): string {
  const factors = [0x9e3779b1, 0x85ebca6b, 0xc2b2ae35, 31];
  const perFactor = wanted / factors.length;
  return factors
    .map((factor) => {
      const found: number[] = [];
      for (let point = 0x10000; found.length < perFactor && point < 0x110000; point++) {
        if (Math.imul(point, factor) >>> 26 === 0) found.push(point);
      }
      return text(found);
    })
    .join('');
}

const row = (digit: string) => `  [${digit.repeat(3)}, x],\n`.repeat(1500);
const reversed = (word: string) => [...word].reverse().join('');
const colliding = collidingSymbols(8000);

describe('the cost of the ratio', () => {
  /** Probes of the table for each character of both texts. */
  const costOf = (a: string, b: string) => ratioAndCost(a, b).probes / (a.length + b.length);

  it.each<[string, string, string]>([
    ['one character over and over', 'a'.repeat(20_000), 'a'.repeat(19_999)],
    ['the same unit over and over', 'ab'.repeat(10_000), 'ba'.repeat(10_000)],
    ['lines that are all but alike', row('1'), row('2')],
    ["Fibonacci's word and its reverse", fibonacciWord(20_000), reversed(fibonacciWord(20_000))],
    [
      'half a text in the place of the other',
      `${'x'.repeat(9999)}${'y'.repeat(9999)}`,
      `${'y'.repeat(9999)}${'x'.repeat(9999)}`,
    ],
    ['symbols that collide in a hash table', colliding, reversed(colliding)],
  ])('stays linear for %s', (_, a, b) => {
    expect(costOf(a, b)).toBeLessThan(40);
  });

  it('grows with the square root of the length at worst', () => {
    for (const depth of [20, 60, 120]) {
      const [a, b] = nestedBlocks(depth);
      const shorter = Math.min([...a].length, [...b].length);
      expect(costOf(a, b)).toBeLessThan(8 * Math.sqrt(2 * shorter));
      expect(ratio(a, b)).toBeGreaterThan(0);
    }
    // The control: the texts are as deep as they are meant to be.
    expect(costOf(...nestedBlocks(120))).toBeGreaterThan(3 * costOf(...nestedBlocks(20)));
  });
});
