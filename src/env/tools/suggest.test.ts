import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fileFacts } from '../suspects/fileFacts.js';
import { chosen } from './choose.js';
import { failureOf } from './failure.js';
import { renderSuggestions, suggestionsOf } from './suggest.js';

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

const functionOf = (path: string, text: string, name: string) => {
  const found = fileFacts(path, text).functions.find((one) => one.name === name);
  if (found === undefined) throw new Error(`no function ${name}`);
  return { path, name, changes: found.parts.flatMap(({ changes }) => changes) };
};

describe('suggestions', () => {
  it.each([
    ['has', ['some becomes every', '=== becomes !==']],
    ['size', ['- becomes +']],
    ['first', ['> becomes <', '> becomes >=']],
  ])('are those of %s', (name, some) => {
    const list = renderSuggestions(functionOf('bag.js', SOURCE, name), SOURCE);
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
    expect(renderSuggestions(functionOf(path, text, name), text)).toContain('< becomes <=');
  });

  it('are shared out among the parts of a long function, each once and in the order of the file', () => {
    const long = `function f(a, b) {\n${'  if (a < b) a += 1;\n'.repeat(30)}}\n`;
    const [{ parts }] = fileFacts('a.js', long).functions;
    expect(parts.length).toBeGreaterThan(5);
    const lists = parts.map((part) => suggestionsOf({ path: 'a.js', ...part }, long));
    expect(lists.every(({ length }) => length <= 18)).toBe(true);
    const { changes } = functionOf('a.js', long, 'f');
    expect(changes).toEqual([...changes].sort((x, y) => x - y));
    expect(new Set(changes).size).toBe(changes.length);
    expect(parts.map(({ line }) => line)).toEqual([1, ...lists.slice(1).map(([first]) => first.line)]);
  });

  it('of a function within another are its own', () => {
    const text = 'function outer(a) {\n  const inner = (b) => b < 2;\n  return a > 1;\n}\n';
    expect(renderSuggestions(functionOf('a.js', text, 'inner'), text)).toContain('< becomes <=');
    const outer = renderSuggestions(functionOf('a.js', text, 'outer'), text);
    expect(outer).toContain('> becomes >=');
    expect(outer).not.toContain('< becomes <=');
  });

  it('are none of a language that is not known, and of a text that is too long', () => {
    expect(fileFacts('a.txt', 'a < b').functions).toEqual([]);
    expect(fileFacts('a.js', `function f() { return 1 < 2; }${' '.repeat(200_000)}`).functions).toEqual([]);
  });

  it('are numbered so that the number makes the change that was listed', () => {
    const place = functionOf('bag.js', SOURCE, 'first');
    const all = suggestionsOf(place, SOURCE);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: all.length }), (number) => {
        const { site, line } = all[number - 1];
        const { text, told } = chosen(place, SOURCE, number) as { text: string; told: string };
        expect(text).toBe(SOURCE.slice(0, site.start) + site.replacement + SOURCE.slice(site.end));
        expect(told.startsWith(`bag.js:${line}: `)).toBe(true);
      }),
    );
  });

  it('that are none count as calls that failed', () => {
    const place = functionOf('bag.js', SOURCE, 'first');
    const { problem } = chosen(place, SOURCE, 99) as { problem: string };
    expect(problem).toMatch(/^No change 99: there are \d+\.$/);
    expect(failureOf({ name: 'choose', content: problem })).toBe(problem);
    expect(failureOf({ name: 'suggest', content: renderSuggestions(place, SOURCE) })).toBeNull();
  });
});
