import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rankSuspects, type Evidence } from './rankSuspects.js';

const ADD = 'function add(a, b) {\n  return a + b;\n}\n';
const SUB = 'function sub(a, b) {\n  return a - b;\n}\n';
const CALLER = 'function twice(a) {\n  return inner(a) * 2;\n}\nfunction inner(a) {\n  return a + 1;\n}\n';

const rank = (
  sources: Record<string, string>,
  tests: Record<string, string>,
  failing: readonly string[],
  rest: { statement?: string; steps?: Record<string, number> } = {},
) => {
  const evidence: Evidence = {
    sources: new Map(
      Object.entries(sources).map(([path, text]) => [path, { text, steps: rest.steps?.[path] ?? 1 }] as const),
    ),
    tests: new Map(Object.entries(tests)),
    failing,
    statement: rest.statement ?? '',
  };
  return rankSuspects(evidence);
};
const names = (suspects: readonly { name: string }[]) => suspects.map(({ name }) => name);

describe('suspects', () => {
  it('are first what the failing test runs, before what passing ones run too', () => {
    const tests = "test('one', () => { add(1); sub(1); });\ntest('two', () => add(2));\ntest('three', () => add(3));\n";
    expect(names(rank({ 'm.js': ADD + SUB }, { 't.js': tests }, ['t.js > one']))).toEqual(['sub', 'add']);
  });

  it('are what a callee calls too, with less weight than what the test names', () => {
    const others = 'function other(a) {\n  return a + 1;\n}\n';
    const ranked = names(rank({ 'm.js': CALLER + others }, { 't.js': "test('t', () => twice(1));\n" }, ['t.js > t']));
    expect(ranked).toEqual(['twice', 'inner', 'other']);
  });

  it('are what the helpers of the test file call', () => {
    const tests = "function check(a) { return sub(a); }\ntest('one', () => check(1));\ntest('two', () => add(1));\n";
    expect(names(rank({ 'm.js': ADD + SUB }, { 't.js': tests }, ['t.js > one']))[0]).toBe('sub');
  });

  it.each([
    ['t.js', "test.each([1])('of %i', (n) => sub(n));\ntest('b', () => add(1));\n", 't.js > of 1'],
    ['t.js', "describe(`of ${x}`, () => { test('a', () => sub(1)); test('b', () => add(1)); });\n", 't.js > of it > a'],
    [
      't.js',
      "describe('s', () => { for (const t of all) test(t, () => sub(1)); });\ntest('b', () => add(1));",
      't.js > s > x',
    ],
    ['t.js', "test('a', () => sub(1));\ntest('b', () => add(1));\n", 't.js > a #2'],
    ['t_a.py', '@parametrize\ndef test_a(n):\n    sub(n)\n\ndef test_b():\n    add(1)\n', 't_a.py > test_a[1-2]'],
    [
      't_a.py',
      'class TestB(TestCase):\n    def test_a(self):\n        add(1)\n\nclass TestA(TestCase):\n    def test_a(self):\n        sub(1)\n',
      't_a.py > TestA > test_a',
    ],
    [
      'a_test.go',
      'package a\n\nfunc TestB(t *T) {\n\tadd(1)\n}\n\nfunc TestA(t *T) {\n\tsub(1)\n}\n',
      'a_test.go > TestA > of_1',
    ],
    ['t.rs', '#[test]\nfn b() {\n    add(1);\n}\n#[test]\nfn a() {\n    sub(1);\n}\n', 't.rs > a'],
    [
      'ATest.java',
      'class ATest {\n  @Test void b() { add(1); }\n  @Test void a() { sub(1); }\n}\n',
      'ATest.java > ATest > a()',
    ],
  ])('are found from the title of a test in %s: %j', (path, text, id) => {
    expect(names(rank({ 'm.js': ADD + SUB }, { [path]: text }, [id]))).toEqual(['sub', 'add']);
  });

  it('are what the whole file names where a failing test is not found', () => {
    const others = 'function other(a) {\n  return a + 1;\n}\n';
    const tests = "for (const t of all) test(t, () => sub(1));\ntest('b', () => add(1));\n";
    expect(names(rank({ 'm.js': others + ADD + SUB }, { 't.js': tests }, ['t.js > gone']))).toEqual([
      'sub',
      'add',
      'other',
    ]);
  });

  it('are the likelier the more is said of them: their messages, their names, their file, few imports', () => {
    const told = "function far(a) {\n  if (a > 1) throw new Error('out of reach');\n}\n";
    const near = 'function nigh(a) {\n  if (a > 1) throw new Error();\n}\n';
    const first = (statement: string, failing: string) =>
      rank({ 'a.js': near, 'b.js': told }, {}, [failing], { statement })[0].name;
    expect(first('Error: out of reach, 3', 't.js > x')).toBe('far');
    expect(first('it is about far', 't.js > x')).toBe('far');
    expect(first('', 't.js > nigh is right')).toBe('nigh');
    expect(first('', 'test/b.test.js > x')).toBe('far');
    expect(first('', 'test_a.py > x')).toBe('nigh');
    const sources = { 'a.js': ADD, 'b.js': ADD };
    expect(rank(sources, {}, [], { steps: { 'a.js': 3, 'b.js': 2 } }).map(({ path }) => path)).toEqual([
      'b.js',
      'a.js',
    ]);
  });

  it('are listed by path and place where nothing tells them apart, whatever their order before', () => {
    const texts = { 'b.js': ADD + SUB.replace('-', '+'), 'a.js': ADD };
    const expected = ['a.js:1', 'b.js:1', 'b.js:4'];
    const places = (sources: Record<string, string>) =>
      rank(sources, {}, []).map(({ path, line }) => `${path}:${line}`);
    expect(places(texts)).toEqual(expected);
    expect(places(Object.fromEntries(Object.entries(texts).reverse()))).toEqual(expected);
  });

  it('are a list, not an error, where there is no evidence at all', () => {
    expect(rank({}, {}, [])).toEqual([]);
    expect(rank({ 'a.txt': 'x' }, { 't.txt': 'y' }, ['t.txt > z'], { statement: 'z' })).toEqual([]);
    expect(names(rank({ 'a.js': ADD }, {}, []))).toEqual(['add']);
  });

  it('may bear names that every object has', () => {
    const text =
      'class A {\n  constructor(a) {\n    this.a = a + 1;\n  }\n  toString() {\n    return this.a + 1;\n  }\n}\n';
    const tests = "test('a', () => new A().toString().hasOwnProperty('__proto__'));\n";
    expect(names(rank({ 'm.js': text }, { 't.js': tests }, ['t.js > a'])).sort()).toEqual(['constructor', 'toString']);
  });

  it('are each function that can be changed once, in an order that evidence alone decides', () => {
    const name = fc.constantFrom('add', 'sub', 'twice', 'constructor', 'test_a');
    const text = fc
      .array(fc.tuple(name, name), { maxLength: 5 })
      .map((all) => all.map(([a, b]) => `function ${a}(n) {\n  return ${b}(n) + 1;\n}\n`).join(''));
    const id = fc
      .array(fc.constantFrom('t.js', 'add', 'x[1]', '#2', '', '%s('), { maxLength: 3 })
      .map((all) => all.join(' > '));
    fc.assert(
      fc.property(text, text, text, fc.array(id, { maxLength: 3 }), fc.string(), (a, b, t, failing, statement) => {
        const list = rank({ 'a.js': a, 'b.js': b }, { 't.js': t }, failing, { statement });
        expect(rank({ 'b.js': b, 'a.js': a }, { 't.js': t }, failing, { statement })).toEqual(list);
        expect(new Set(list.map(({ path, start }) => `${path} ${start}`)).size).toBe(list.length);
        expect(list).toHaveLength((a + b).split('function').length - 1);
      }),
      { numRuns: 60 },
    );
  });
});
