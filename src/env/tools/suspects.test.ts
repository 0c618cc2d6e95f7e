import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { failureOf } from './failure.js';
import { nextSuspect, noSuspect, renderSuspects } from './suspects.js';

const many = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ name: `f${index + 1}`, path: 'src/a.js', line: index + 1 }));

describe('the list of suspects', () => {
  it('says number, name and place, and where it goes on', () => {
    expect(renderSuspects(many(2))).toBe('1. f1 (src/a.js:1)\n2. f2 (src/a.js:2)');
    const list = renderSuspects(many(14));
    expect(list.split('\n').slice(-2)).toEqual(['12. f12 (src/a.js:12)', '(+2 more, from 13)']);
    expect(renderSuspects(many(14), 13)).toBe('13. f13 (src/a.js:13)\n14. f14 (src/a.js:14)');
  });

  it('shows each one once where it is followed to its end', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), (count) => {
        const lines: string[] = [];
        for (let from: number | null = 1; from !== null;) {
          const list = renderSuspects(many(count), from);
          lines.push(...list.split('\n').filter((line) => /^\d/.test(line)));
          from = nextSuspect(list);
        }
        expect(lines).toEqual(many(count).map(({ name, line }) => `${line}. ${name} (src/a.js:${line})`));
      }),
    );
  });

  it('cuts long names, and says what is not there as a call that failed', () => {
    const [line] = renderSuspects([{ name: 'x'.repeat(500), path: 'y'.repeat(500), line: 1 }]).split('\n');
    expect(line.length).toBeLessThan(300);
    for (const content of [renderSuspects([]), renderSuspects(many(2), 3)]) {
      expect(failureOf({ name: 'suspects', content })).toBe(content);
    }
    expect(renderSuspects(many(2), 3)).toBe('No function 3: there are 2.');
    expect(failureOf({ name: 'suggest', content: noSuspect(3, 2) })).toBe(noSuspect(3, 2));
    expect(failureOf({ name: 'suspects', content: renderSuspects(many(2)) })).toBeNull();
  });
});
