import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mapLines, touchedLines } from './touchedLines.js';

const patch = (...hunk: string[]) => ['--- a/src/räng e.js', '+++ b/src/räng e.js', ...hunk, ''].join('\n');
const replacing = patch('@@ -2,3 +2,3 @@', ' two', '-three', '+THREE', ' four');
const adding = patch('@@ -2,2 +2,3 @@', ' two', '+between', ' three');

describe('the lines that rollouts touched', () => {
  const by = (rollout: number) => ({ rollout, advantage: rollout - 1.5, resolved: rollout === 2 });

  it('are those that are replaced, and those that something is put after', () => {
    const files = touchedLines([
      { ...by(1), patch: replacing },
      { ...by(2), patch: replacing + adding },
    ]);
    const lines = files.get('src/räng e.js')!;
    expect([...lines.keys()].sort()).toEqual([2, 3]);
    expect(lines.get(3)?.map(({ rollout }) => rollout)).toEqual([1, 2]);
    expect(lines.get(2)?.map(({ rollout }) => rollout)).toEqual([2]);
  });

  it('are none of a patch that is none, nor of a new file', () => {
    const added = '--- /dev/null\n+++ b/new.js\n@@ -0,0 +1 @@\n+x\n';
    expect(
      touchedLines([
        { ...by(1), patch: '@@ nonsense' },
        { ...by(2), patch: added },
      ]).size,
    ).toBe(0);
  });
});

describe('lines in a text that has gone on', () => {
  it('stand where they stand now, replaced ones at their replacement', () => {
    expect(mapLines(['a', 'b', 'c'], ['new', 'a', 'B', 'c'])).toEqual([1, 2, 3]);
    expect(mapLines(['a', 'b'], ['a', 'b'])).toEqual([0, 1]);
  });

  it('keep their order and stay inside', () => {
    const lines = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 12 });
    fc.assert(
      fc.property(lines, lines, (from, to) => {
        const mapped = mapLines(from, to);
        expect(mapped).toHaveLength(from.length);
        expect(mapped.every((line, index) => line >= (mapped[index - 1] ?? 0) && line <= to.length)).toBe(true);
      }),
    );
  });
});
