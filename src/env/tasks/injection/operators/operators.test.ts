import { describe, expect, it } from 'vitest';
import { applySite } from '../operator.js';
import { countSyntaxErrors, parseSource, type Language } from '../parsing.js';
import { OPERATORS } from './index.js';

type Row = readonly [operator: string, language: Language, before: string, ...after: string[]];

/** Every broken form of `before` that the operator makes, in the order of the file. */
const TABLE: readonly Row[] = [
  ['comparison-flip', 'javascript', 'if (a === b || c < d) {}', 'if (a !== b || c < d) {}', 'if (a === b || c > d) {}'],
  ['comparison-flip', 'typescript', 'const x: boolean = a != b;', 'const x: boolean = a == b;'],
  ['comparison-flip', 'javascript', "'a' in b; a instanceof b;"],
  ['comparison-flip', 'python', 'x = a not in b', 'x = a in b'],
  ['comparison-flip', 'python', 'x = a is not None', 'x = a is None'],
  ['comparison-flip', 'python', 'x = 0 <= a < 9', 'x = 0 >= a < 9', 'x = 0 <= a > 9'],
  ['boundary', 'javascript', 'for (;i < n;) {}', 'for (;i <= n;) {}'],
  ['boundary', 'typescript', 'const x = a <= b;', 'const x = a < b;'],
  ['boundary', 'tsx', 'const x = <p>{a >= b}</p>;', 'const x = <p>{a > b}</p>;'],
  ['boundary', 'typescript', 'const x: Map<string, number> = new Map<string, number>();'],
  ['boundary', 'python', 'x = a > b', 'x = a >= b'],
  ['arithmetic-swap', 'javascript', 'x = a + b; y *= 2;', 'x = a - b; y *= 2;', 'x = a + b; y /= 2;'],
  ['arithmetic-swap', 'javascript', "x = a + ': ' + b;"],
  ['arithmetic-swap', 'typescript', 'const x = a % b;', 'const x = a * b;'],
  ['arithmetic-swap', 'python', 'x = a // b', 'x = a * b'],
  ['arithmetic-swap', 'python', 'x -= 1', 'x += 1'],
  ['arithmetic-swap', 'python', "x = '%s' % a"],
  ['negation', 'javascript', 'if (!a) b();', 'if (a) b();'],
  ['negation', 'javascript', 'x = a ? 1 : 2;', 'x = !(a) ? 1 : 2;'],
  ['negation', 'javascript', 'x = -a; y = typeof b;'],
  ['negation', 'typescript', 'const x: boolean = !y;', 'const x: boolean = y;'],
  ['negation', 'python', 'x = 1 if a else 2', 'x = 1 if not (a) else 2'],
  ['negation', 'python', 'x = not a', 'x = a'],
  [
    'negation',
    'python',
    'if a:\n  b\nelif c:\n  d\n',
    'if not (a):\n  b\nelif c:\n  d\n',
    'if a:\n  b\nelif not (c):\n  d\n',
  ],
  ['logic-swap', 'javascript', 'x = a && b;', 'x = a || b;'],
  ['logic-swap', 'typescript', 'const x = (a as boolean) || b;', 'const x = (a as boolean) && b;'],
  ['logic-swap', 'javascript', 'x = a ?? b;'],
  ['logic-swap', 'python', 'x = a and b', 'x = a or b'],
  ['clause-removal', 'javascript', 'x = a && b;', 'x = a;'],
  ['clause-removal', 'typescript', 'const x = a || b();', 'const x = a;'],
  ['clause-removal', 'python', 'if a or b: pass', 'if a: pass'],
  [
    'constant-change',
    'javascript',
    'x = 0; y = true; z = 1.5;',
    'x = 1; y = true; z = 1.5;',
    'x = 0; y = false; z = 1.5;',
    'x = 0; y = true; z = 2.5;',
  ],
  ['constant-change', 'javascript', 'x = a[0]; y = 0x1f; z = 10n; w = 9007199254740993;'],
  ['constant-change', 'typescript', 'type A = 1; const x: A = 1;', 'type A = 1; const x: A = 2;'],
  ['constant-change', 'python', 'x = False', 'x = True'],
  ['constant-change', 'python', 'x = a[1:2] + 3', 'x = a[1:2] + 4'],
  ['operand-swap', 'javascript', 'x = a - b;', 'x = b - a;'],
  ['operand-swap', 'javascript', 'x = a - b - c;', 'x = c - (a - b);', 'x = b - a - c;'],
  ['operand-swap', 'javascript', "x = a + b; y = 'z' + c;", "x = a + b; y = c + 'z';"],
  ['operand-swap', 'typescript', 'const x = a / b[0];', 'const x = b[0] / a;'],
  ['operand-swap', 'python', 'x = a // b', 'x = b // a'],
  ['operand-swap', 'python', "x = '%d' % n"],
  ['argument-swap', 'javascript', 'f(a, b, c);', 'f(b, a, c);', 'f(a, c, b);'],
  ['argument-swap', 'javascript', 'f(a, a); f(a, ...b); setTimeout(() => {}, 1);'],
  ['argument-swap', 'typescript', 'f<number>(a, /* why */ b);', 'f<number>(b, /* why */ a);'],
  ['argument-swap', 'python', 'f(a, b, k=c)', 'f(b, a, k=c)'],
  ['argument-swap', 'python', 'f(a, *b)'],
  ['return-value', 'javascript', 'const f = (x) => x + 1;', 'const f = (x) => null;'],
  ['return-value', 'javascript', 'const f = () => ({ a: 1 });', 'const f = () => (null);'],
  [
    'return-value',
    'javascript',
    'function f() { if (x) return; return a < b; }',
    'function f() { if (x) return; return !(a < b); }',
  ],
  ['return-value', 'javascript', 'function f() { return null; }'],
  ['return-value', 'typescript', 'function f(): number { return a; }', 'function f(): number { return null; }'],
  ['return-value', 'python', 'def f():\n  return 1, 2\n', 'def f():\n  return None\n'],
  ['return-value', 'python', 'f = lambda x: x in y', 'f = lambda x: not (x in y)'],
  ['statement-removal', 'javascript', 'function f() {\n  g();\n  return 1;\n}\n', 'function f() {\n  return 1;\n}\n'],
  [
    'statement-removal',
    'javascript',
    'function f() {\r\n  g();\r\n  return 1;\r\n}\r\n',
    'function f() {\r\n  return 1;\r\n}\r\n',
  ],
  ['statement-removal', 'javascript', 'function f() { if (a) g(); }', 'function f() { if (a) {} }'],
  ['statement-removal', 'javascript', 'function f() { "use strict"; super(1); const a = 1; }\ng();'],
  [
    'statement-removal',
    'typescript',
    'class A {\n  m(): void {\n    this.x = 1;\n  }\n}\n',
    'class A {\n  m(): void {\n  }\n}\n',
  ],
  ['statement-removal', 'python', 'def f():\n  self.x = 1\n', 'def f():\n  pass\n'],
  [
    'statement-removal',
    'python',
    'def f():\n  """Doc."""\n  x = 1\n  x += 2\n  return x\n',
    'def f():\n  """Doc."""\n  x = 1\n  return x\n',
  ],
  ['statement-removal', 'python', 'def f():\n  a(); b = 1\n', 'def f():\n  b = 1\n'],
  [
    'condition-removal',
    'javascript',
    'function f() {\n  if (a < 0) return 0;\n  return a;\n}\n',
    'function f() {\n  return a;\n}\n',
  ],
  ['condition-removal', 'javascript', 'function f() { if (a) b(); else c(); }'],
  ['condition-removal', 'javascript', 'function f() { if (a) b(); else if (c) d(); }'],
  ['condition-removal', 'javascript', 'function f() { if (a == null) return; }'],
  [
    'condition-removal',
    'typescript',
    'const f = (a?: string): void => {\n  if (a) {\n    b(a);\n  }\n  c();\n};\n',
    'const f = (a?: string): void => {\n  c();\n};\n',
  ],
  ['condition-removal', 'python', 'def f(a):\n  if a < 0:\n    raise E\n  return a\n', 'def f(a):\n  return a\n'],
  ['condition-removal', 'python', 'def f(a):\n  if a:\n    b()\n', 'def f(a):\n  pass\n'],
  [
    'null-guard-removal',
    'javascript',
    'function f(x) {\n  if (x === undefined) return 0;\n  return x;\n}\n',
    'function f(x) {\n  return x;\n}\n',
  ],
  [
    'null-guard-removal',
    'javascript',
    'y = a?.b; z = a?.[0]; w = f?.();',
    'y = a.b; z = a?.[0]; w = f?.();',
    'y = a?.b; z = a[0]; w = f?.();',
    'y = a?.b; z = a?.[0]; w = f();',
  ],
  ['null-guard-removal', 'typescript', 'const y: number = x ?? 1;', 'const y: number = x;'],
  ['null-guard-removal', 'typescript', "const y = typeof x === 'undefined' ? 1 : x;", 'const y = x;'],
  [
    'null-guard-removal',
    'python',
    'def f(x=None):\n  if x is None:\n    x = []\n  return x\n',
    'def f(x=None):\n  return x\n',
  ],
  ['null-guard-removal', 'python', 'y = [] if x is None else x', 'y = x'],
  [
    'index-change',
    'javascript',
    'function f() { return a[0] + a[i] + a[i - 1] + a[key]; }',
    'function f() { return a[1] + a[i] + a[i - 1] + a[key]; }',
    'function f() { return a[0] + a[i + 1] + a[i - 1] + a[key]; }',
    'function f() { return a[0] + a[i] + a[i] + a[key]; }',
  ],
  [
    'index-change',
    'typescript',
    'const f = (a: number[]): number => a[0]!;',
    'const f = (a: number[]): number => a[1]!;',
  ],
  ['index-change', 'python', 'def f(a):\n  return a[-1]\n', 'def f(a):\n  return a[-2]\n'],
  [
    'index-change',
    'python',
    'def f(a):\n  return a[1:n]\n',
    'def f(a):\n  return a[2:n]\n',
    'def f(a):\n  return a[1:n + 1]\n',
  ],
  ['index-change', 'python', 'x: Tuple[0]'],
  [
    'early-return',
    'javascript',
    'function f(a) {\n  let s = 0;\n  for (const x of a) {\n    s += x;\n  }\n  return s;\n}\n',
    'function f(a) {\n  let s = 0;\n  for (const x of a) {\n    s += x;\n    return s;\n  }\n  return s;\n}\n',
  ],
  ['early-return', 'javascript', 'function f(a) {\n  for (const x of a) {\n    return x;\n  }\n  return 0;\n}\n'],
  [
    'early-return',
    'typescript',
    'function f(a: number): number {\n  while (a > 1) {\n    a -= 1;\n  }\n  return a;\n}\n',
    'function f(a: number): number {\n  while (a > 1) {\n    a -= 1;\n    return a;\n  }\n  return a;\n}\n',
  ],
  [
    'early-return',
    'python',
    'def f(a):\n  s = 0\n  for x in a:\n    s += x\n  return s\n',
    'def f(a):\n  s = 0\n  for x in a:\n    s += x\n    return s\n  return s\n',
  ],
  [
    'loop-control-swap',
    'javascript',
    'for (const x of a) { if (x) continue; else break; }',
    'for (const x of a) { if (x) break; else break; }',
    'for (const x of a) { if (x) continue; else continue; }',
  ],
  ['loop-control-swap', 'javascript', 'for (const x of a) { switch (x) { case 1: break; } } while (a) { break; }'],
  [
    'loop-control-swap',
    'typescript',
    'for (let i: number = 0; i < 2; i++) { break; }',
    'for (let i: number = 0; i < 2; i++) { continue; }',
  ],
  ['loop-control-swap', 'python', 'for x in a:\n  continue\n', 'for x in a:\n  break\n'],
  ['call-swap', 'javascript', 'x = Math.min(a, b);', 'x = Math.max(a, b);'],
  ['call-swap', 'javascript', 'x = a.find(f); y = a.min; z = a.toString();'],
  ['call-swap', 'typescript', 'const x: string = s.trimStart();', 'const x: string = s.trimEnd();'],
  ['call-swap', 'python', 'x = any(a)', 'x = all(a)'],
  ['call-swap', 'python', 'x = s.lstrip()', 'x = s.rstrip()'],
];

describe('bug operators', () => {
  const cases = TABLE.map(([name, language, before, ...after]) => ({ name, language, before, after }));
  it.each(cases)('$name breaks $language: $before', ({ name, language, before, after }) => {
    const operator = OPERATORS.find((candidate) => candidate.name === name)!;
    const source = parseSource(before, language);
    expect(countSyntaxErrors(source.root)).toBe(0);
    const broken = operator.sites(source).map((site) => applySite(before, site));
    expect(broken).toEqual(after);
    for (const text of broken) expect(countSyntaxErrors(parseSource(text, language).root)).toBe(0);
  });

  it.each(
    OPERATORS.flatMap((operator) =>
      operator.languages.filter((l) => l !== 'tsx').map((l) => [operator.name, l] as const),
    ),
  )('%s is shown at work in %s', (name, language) => {
    expect(TABLE.some((row) => row[0] === name && row[1] === language && row.length > 3)).toBe(true);
  });

  it.each(['javascript', 'python'] as const)(
    'strikes the right characters after emoji and ideographs in %s',
    (language) => {
      const before = 'x = "😀漢字é🏳️‍🌈"; y = a < b';
      const [site] = OPERATORS.find(({ name }) => name === 'boundary')!.sites(parseSource(before, language));
      expect(applySite(before, site)).toBe('x = "😀漢字é🏳️‍🌈"; y = a <= b');
    },
  );

  it('strikes the right characters after a byte order mark', () => {
    const [site] = OPERATORS.find(({ name }) => name === 'boundary')!.sites(
      parseSource('\ufeffy = a < b', 'javascript'),
    );
    expect(applySite('\ufeffy = a < b', site)).toBe('\ufeffy = a <= b');
  });

  it.each(['javascript', 'typescript', 'python'] as const)(
    'reads %s files far past the binding’s buffer',
    (language) => {
      const filler = 'x = "😀漢字"\n'.repeat(20_000);
      const source = parseSource(`${filler}y = a < b\n`, language);
      expect(countSyntaxErrors(source.root)).toBe(0);
      const [site] = OPERATORS.find(({ name }) => name === 'boundary')!.sites(source);
      expect(applySite(source.text, site).slice(filler.length)).toBe('y = a <= b\n');
    },
  );

  it('leaves what stands inside of a syntax error alone', () => {
    const source = parseSource('const = (a < b ;;\n', 'javascript');
    expect(OPERATORS.flatMap((operator) => operator.sites(source))).toEqual([]);
  });
});
