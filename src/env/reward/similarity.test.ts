import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ratio } from './ratio.js';
import { changesSimilarity, patchesSimilarity } from './similarity.js';
import { unifiedDiffHunks } from './unifiedDiff.js';
import { FormatError } from './unifiedPatch.js';

type GoldenCase = [before: string, predicted: string, oracle: string, hunks: string, reward: number, ratio: number];
const golden = JSON.parse(
  readFileSync(new URL('../../../scripts/golden/similarity.json', import.meta.url), 'utf8'),
) as GoldenCase[];

const change = (path: string, before: string | null, after: string | null) => ({ path, before, after });

/** difflib's algorithm word for word (autojunk off), as a second opinion on small texts. */
function plainRatio(textA: string, textB: string): number {
  const [a, b] = [Array.from(textA), Array.from(textB)];
  const matches = (aLow: number, aHigh: number, bLow: number, bHigh: number): number => {
    let [bestA, bestB, size] = [aLow, bLow, 0];
    for (let i = aLow; i < aHigh; i++) {
      for (let j = bLow; j < bHigh; j++) {
        let k = 0;
        while (i + k < aHigh && j + k < bHigh && a[i + k] === b[j + k]) k++;
        if (k > size) [bestA, bestB, size] = [i, j, k];
      }
    }
    if (size === 0) return 0;
    return size + matches(aLow, bestA, bLow, bestB) + matches(bestA + size, aHigh, bestB + size, bHigh);
  };
  const total = a.length + b.length;
  return total === 0 ? 1 : (2 * matches(0, a.length, 0, b.length)) / total;
}

describe("the ratio equals Python's difflib to the last bit", () => {
  it('on golden pairs', () => {
    expect(golden.length).toBeGreaterThan(200);
    for (const [, predicted, oracle, , , wanted] of golden) expect(ratio(predicted, oracle)).toBe(wanted);
  });

  it('on any two texts, and never leaves [0, 1]', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '\n', '\u{1F600}', '\u{1F601}'), maxLength: 40 });
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(ratio(a, b)).toBe(plainRatio(a, b));
        expect(ratio(a, a)).toBe(1);
      }),
      { numRuns: 300 },
    );
  });

  it('counts code points, not UTF-16 units', () => {
    expect(ratio('\u{1F600}', '\u{1F601}')).toBe(0);
    expect(ratio('\u{1F600}a', '\u{1F600}b')).toBe(0.5);
  });

  it('is not symmetric, so the order of the arguments counts', () => {
    expect(ratio('tide', 'diet')).toBe(0.25);
    expect(ratio('diet', 'tide')).toBe(0.5);
  });

  it('ends on long texts made to be slow for a quadratic search', () => {
    const row = (digit: string) => `  [${digit.repeat(3)}, x],\n`.repeat(1500);
    expect(ratio(row('1'), row('2'))).toBe(0.75);
    expect(ratio('ab'.repeat(50_000), 'ab'.repeat(50_000))).toBe(1);
  });
});

describe("the unified diff equals Python's difflib.unified_diff", () => {
  it('on golden pairs', () => {
    for (const [before, predicted, , hunks] of golden) expect(unifiedDiffHunks(before, predicted)).toBe(hunks);
  });

  it('sees no change where only line ends differ', () => {
    expect(unifiedDiffHunks('a\r\nb', 'a\nb\n')).toBe('');
  });
});

describe('patch similarity', () => {
  it("equals SWE-RL's reward on golden files", () => {
    for (const [before, predicted, oracle, , wanted] of golden) {
      const { reward } = changesSimilarity([change('f', before, predicted)], [change('f', before, oracle)]);
      expect(reward).toBe(wanted);
    }
  });

  it('is the mean over the files of both sides, 0 where only one side changes a file', () => {
    const both = change('b.js', 'x\n', 'y\n');
    const { reward, files } = changesSimilarity(
      [both, change('c.js', null, 'new\n')],
      [both, change('a.js', 'p\n', null)],
    );
    expect(files).toEqual([
      { path: 'a.js', ratio: 0, reason: 'only the oracle changes it' },
      { path: 'b.js', ratio: 1 },
      { path: 'c.js', ratio: 0, reason: 'only the prediction changes it' },
    ]);
    expect(reward).toBe(1 / 3);
  });

  it('is 1 where neither side changes anything, 0 where one does', () => {
    const some = [change('a', 'x\n', 'y\n')];
    expect(changesSimilarity([], []).reward).toBe(1);
    expect(changesSimilarity([change('a', 'x', 'x\n')], []).reward).toBe(1);
    expect(changesSimilarity([], some).reward).toBe(0);
    expect(changesSimilarity(some, []).reward).toBe(0);
  });
});

describe('similarity of two patches given as text', () => {
  const header = 'diff --git a/a.js b/a.js\nindex 1..2 100644\n--- a/a.js\n+++ b/a.js\n';
  const hunks = '@@ -1,2 +1,2 @@ function f() {\n-x\n+y\n z\n';

  it('compares the hunks and drops the header lines', () => {
    expect(patchesSimilarity(header + hunks, `--- a/a.js\n+++ b/a.js\n${hunks}`)).toEqual({
      reward: 1,
      files: [{ path: 'a.js', ratio: 1 }],
    });
    const other = hunks.replace('+y', '+yes');
    expect(patchesSimilarity(header + other, header + hunks).reward).toBe(ratio(other.trimEnd(), hunks.trimEnd()));
  });

  it('takes lines of a body that look like headers for what they are', () => {
    const tricky = '--- a/s.sql\n+++ b/s.sql\n@@ -1,2 +1,2 @@\n--- drop\n+++ add\n @@ -1 +1 @@\n@@ -9 +9 @@\n-a\n+b\n';
    expect(patchesSimilarity(tricky, tricky)).toEqual({ reward: 1, files: [{ path: 's.sql', ratio: 1 }] });
  });

  it('is -1 for a predicted patch that is none, and no number for such an oracle', () => {
    const bad = patchesSimilarity('just change x to y', header + hunks);
    expect(bad).toMatchObject({ reward: -1, files: [] });
    expect(bad.formatError).toMatch(/not a unified diff/);
    expect(patchesSimilarity('--- a/x\n+++ b/x\n@@ -1,9 +1 @@\n-a\n+b\n', header + hunks).reward).toBe(-1);
    expect(patchesSimilarity('--- a/../x\n+++ b/../x\n@@ -1 +1 @@\n-a\n+b\n', header + hunks).reward).toBe(-1);
    expect(() => patchesSimilarity(header + hunks, 'nothing')).toThrow(FormatError);
  });

  it('takes blank text for a patch without change', () => {
    expect(patchesSimilarity('\n', '').reward).toBe(1);
    expect(patchesSimilarity('', header + hunks).reward).toBe(0);
  });
});
