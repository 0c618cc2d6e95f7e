import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chosen } from './choose.js';
import { failureOf } from './failure.js';
import { functionsAround, nextLine, renderSuggestions, suggestionsOf } from './suggest.js';

const SOURCE = `const LIMIT = 3;

export class Bag {
  size = () => this.items.length - 1;
  has(item) {
    return this.items.some((one) => one === item);
  }
}

exports.first = function (list) {
  const [head] = list.filter(isThere);
  return head > LIMIT ? head : null;
};
`;

describe('suggestions', () => {
  it.each([
    ['has', ['some becomes every', '=== becomes !==']],
    ['size', ['- becomes +']],
    ['first', ['> becomes <', '> becomes >=']],
  ])('are those of %s', (name, some) => {
    const list = renderSuggestions('bag.js', SOURCE, name);
    for (const change of some) expect(list).toContain(change);
    expect(list).not.toContain('LIMIT = 3');
  });

  it.each([
    ['a.py', 'class A:\n    def go(self, n):\n        return n < 1\n', 'go'],
    ['a.ts', 'export const go = async (n: number): Promise<boolean> => n < 1;\n', 'go'],
    ['a.go', 'package a\n\nfunc (a *A) Go(n int) bool {\n\treturn n < 1\n}\n', 'Go'],
    ['a.rs', 'impl A {\n    fn go(n: i32) -> bool {\n        n < 1\n    }\n}\n', 'go'],
    ['A.java', 'class A {\n  boolean go(int n) {\n    return n < 1;\n  }\n}\n', 'go'],
  ])('are given for functions of %s', (path, text, name) => {
    expect(renderSuggestions(path, text, name)).toContain('< becomes <=');
  });

  it('go on from the line that the list names', () => {
    const long = `function f(a, b) {\n${'  if (a < b) a += 1;\n'.repeat(30)}}\n`;
    const numbers: number[] = [];
    let from: number | undefined;
    do {
      const list = renderSuggestions('a.js', long, 'f', from);
      numbers.push(...[...list.matchAll(/^ {2}.*\((\d+)\)$/gm)].map(([, number]) => Number(number)));
      from = nextLine(list) ?? undefined;
    } while (from !== undefined);
    const all = suggestionsOf('a.js', long, 'f');
    expect([...new Set(numbers)]).toEqual(Array.from({ length: (all as unknown[]).length }, (_, i) => i + 1));
  });

  it('know the functions around a place, outermost first', () => {
    const text = 'function a() {\n  const b = () => 1;\n}\n';
    expect(functionsAround('x.js', text, text.indexOf('1')).map(({ name }) => name)).toEqual(['a', 'b']);
    expect(functionsAround('x.txt', text, 3)).toEqual([]);
  });

  it('are numbered so that the number makes the change that was listed', () => {
    const all = suggestionsOf('bag.js', SOURCE, 'first');
    if ('problem' in all) throw new Error(all.problem);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: all.length }), (number) => {
        const { site } = all[number - 1];
        const { text } = chosen('bag.js', SOURCE, 'first', number) as { text: string };
        expect(text).toBe(SOURCE.slice(0, site.start) + site.replacement + SOURCE.slice(site.end));
      }),
    );
  });

  it('that are none count as calls that failed', () => {
    const content = renderSuggestions('bag.js', SOURCE, 'nothing');
    expect(content).toBe('No function "nothing" in bag.js. Functions: size, has, first.');
    expect(failureOf({ name: 'suggest', content })).toBe(content);
    const refused = chosen('bag.js', SOURCE, 'first', 99) as { problem: string };
    expect(failureOf({ name: 'choose', content: refused.problem })).toBe(refused.problem);
    expect(failureOf({ name: 'suggest', content: renderSuggestions('bag.js', SOURCE, 'has') })).toBeNull();
  });
});
