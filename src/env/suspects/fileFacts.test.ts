import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fileFacts } from './fileFacts.js';
import { fits } from './titles.js';

const named = (path: string, text: string, name: string) => {
  const found = fileFacts(path, text).functions.find((one) => one.name === name);
  expect(found, `${name} in ${path}`).toBeDefined();
  return found!;
};
const testsOf = (path: string, text: string, title: string) =>
  fileFacts(path, text)
    .blocks.filter((block) => block.isTest && fits(block.title, title))
    .map(({ start, end }) => text.slice(start, end));

describe('facts of a file', () => {
  it.each([
    [
      'a.js',
      'class Bag {\n  go(n) {\n    if (n < 1) throw new Error("must be positive");\n    return this.by(n);\n  }\n}\n',
      2,
    ],
    [
      'a.ts',
      'abstract class Bag<T> {\n  go(n: number) {\n    if (n < 1) throw new Error(`must be positive, not ${n}`);\n    return by(n);\n  }\n}\n',
      2,
    ],
    [
      'a.py',
      "class Bag(Base):\n    def go(self, n):\n        if n < 1:\n            raise ValueError(f'must be positive, not {n}')\n        return by(n)\n",
      2,
    ],
    [
      'a.rs',
      'impl<T> Bag<T> {\n    fn go(n: i32) -> i32 {\n        assert!(n > 1, "must be positive: {}", n);\n        if n < 1 { return by(n); }\n        by(n)\n    }\n}\n',
      2,
    ],
    [
      'A.java',
      'enum Bag {\n  ONE;\n  int go(int n) {\n    if (n < 1) throw new Error("must be positive");\n    return by(n);\n  }\n}\n',
      3,
    ],
  ])('of %s: a method with its class, its names, its messages and its changes', (path, text, line) => {
    const go = named(path, text, 'go');
    expect(go).toMatchObject({ owner: 'Bag', line });
    expect([...go.names]).toEqual(expect.arrayContaining(['by', 'n']));
    expect(
      go.literals.some((piece) => 'Error: must be positive, not 0'.includes(piece) || piece === 'must be positive:'),
    ).toBe(true);
    expect(go.parts[0]).toMatchObject({ line });
    expect(text.slice(go.start, go.end)).toMatch(/^(?:int |fn |def )?go\(/);
  });

  it('of a.go: a method without an owner', () => {
    const text =
      'package a\n\nfunc (b *Bag) Go(n int) error {\n\tif n < 1 {\n\t\treturn errors.New("must be positive")\n\t}\n\treturn by(n)\n}\n';
    expect(named('a.go', text, 'Go')).toMatchObject({ owner: null, line: 3, literals: ['must be positive'] });
  });

  it('count places in UTF-16 units', () => {
    const text = '// \u{1F600} é\nconst go = (n) => by(n) < 1;\n';
    const go = named('a.js', text, 'go');
    expect(text.slice(go.start, go.end)).toBe('go = (n) => by(n) < 1');
    expect([...go.names]).toEqual(['go', 'n', 'by']);
  });

  it('know names that every object has', () => {
    const text =
      'class A {\n  constructor(n) {\n    this.n = n + 1;\n  }\n  __proto__() {\n    return 1 < 2;\n  }\n}\n';
    expect(fileFacts('a.js', text).functions.map(({ name, owner }) => [name, owner])).toEqual([
      ['constructor', 'A'],
      ['__proto__', 'A'],
    ]);
  });

  it.each([
    ['a.test.js', "test('adds', () => one());\n", 'adds'],
    ['a.test.ts', "describe.each([[1]])('of %i', () => { it('adds', async () => one()); });\n", 'of 1'],
    ['a.test.ts', "describe('a', () => { it.each`a\n${1}`('adds $a', function () { one(); }); });\n", 'adds 1'],
    ['a.test.mjs', "test('outer', (t) => t.test('inner', () => one()));\n", 'inner'],
    ['test_a.py', 'class TestA(TestCase):\n    def test_adds(self):\n        one()\n', 'test_adds'],
    ['a_test.go', 'package a\n\nfunc TestAdds(t *testing.T) {\n\tone()\n}\n', 'TestAdds'],
    ['a.rs', '#[cfg(test)]\nmod tests {\n    #[test]\n    fn adds() {\n        one();\n    }\n}\n', 'adds'],
    ['ATest.java', 'class ATest {\n  @ParameterizedTest(name = "x")\n  void adds() {\n    one();\n  }\n}\n', 'adds'],
  ])('of %s know a test by its title', (path, text, title) => {
    const [found, ...others] = testsOf(path, text, title);
    expect(found).toContain('one()');
    expect(others).toEqual([]);
  });

  it('tell tests from other calls with a text and a function, and from helpers', () => {
    const text = "test('a', () => bus.on('data', () => 1));\nfunction helper() { return 1; }\n";
    expect(testsOf('a.test.js', text, 'data')).toEqual([]);
    expect(testsOf('a.test.js', text, 'helper')).toEqual([]);
  });

  it('are none of other languages, of texts that are too long and of code that is nested too deeply', () => {
    const none = { functions: [], changes: [], blocks: [], names: new Set() };
    expect(fileFacts('a.txt', 'function a() {}')).toEqual(none);
    expect(fileFacts('a.js', `function a() { return 1; }${' '.repeat(200_000)}`)).toEqual(none);
    for (const [open, close] of ['[]', '()', '{}']) {
      expect(fileFacts('a.js', open.repeat(5000) + close.repeat(5000))).toEqual(none);
      expect(fileFacts('a.py', open.repeat(5000))).toEqual(none);
    }
  });

  it('are given of any text', () => {
    const word = fc.constantFrom(
      'function',
      'class A',
      'def f',
      '(',
      ')',
      '{',
      '}',
      ' ',
      '\n',
      "'",
      '`',
      '${',
      'a',
      '=>',
      '\u{1F600}',
    );
    const text = fc.array(word, { maxLength: 40 }).map((words) => words.join(''));
    fc.assert(
      fc.property(fc.constantFrom('a.js', 'a.ts', 'a.tsx', 'a.py', 'a.go', 'a.rs', 'A.java'), text, (path, code) => {
        const { functions, blocks } = fileFacts(path, code);
        for (const { start, end } of [...functions, ...blocks]) {
          expect(start).toBeLessThan(end);
          expect(end).toBeLessThanOrEqual(code.length);
        }
      }),
      { numRuns: 60 },
    );
  });
});
