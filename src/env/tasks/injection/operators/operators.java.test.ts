import { describeTable, type Row } from './operatorTable.testing.js';

type Cells = readonly [operator: string, before: string, ...after: string[]];

/** Code of a method. */
const STATEMENTS: readonly Cells[] = [
  ['comparison-flip', 'if (a == b || c < d) {}', 'if (a != b || c < d) {}', 'if (a == b || c > d) {}'],
  ['boundary', 'while (i < n) {}', 'while (i <= n) {}'],
  ['boundary', 'x = a < b ? a : b;'],
  ['arithmetic-swap', 'x = n * 2 + m;', 'x = n * 2 - m;', 'x = n / 2 + m;'],
  ['arithmetic-swap', 'x = a + b; s = "a" + n;'],
  [
    'assignment-swap',
    'x += 1; s += "a"; n++; for (int i = 0; i < 3; i++) {}',
    'x -= 1; s += "a"; n++; for (int i = 0; i < 3; i++) {}',
    'x += 1; s = "a"; n++; for (int i = 0; i < 3; i++) {}',
    'x += 1; s += "a"; n--; for (int i = 0; i < 3; i++) {}',
  ],
  ['negation', 'if (!a) b();', 'if (a) b();'],
  [
    'negation',
    'if (s.isEmpty()) b(); if (n < 1) b(); if (o instanceof T t) b();',
    'if (!s.isEmpty()) b(); if (n < 1) b(); if (o instanceof T t) b();',
    'if (s.isEmpty()) b(); if (n >= 1) b(); if (o instanceof T t) b();',
  ],
  ['logic-swap', 'x = a && b;', 'x = a || b;'],
  ['logic-swap', 'x = o instanceof T t && t.ok();'],
  ['clause-removal', 'x = a || b();', 'x = a;', 'x = b();'],
  ['clause-removal', 'x = o instanceof T t && t.ok();', 'x = o instanceof T t;'],
  [
    'constant-change',
    'x = 0; y = true; z = 1.5; w = 3L;',
    'x = 1; y = true; z = 1.5; w = 3L;',
    'x = 0; y = false; z = 1.5; w = 3L;',
    'x = 0; y = true; z = 2.5; w = 3L;',
    'x = 0; y = true; z = 1.5; w = 4L;',
  ],
  ['constant-change', 'x = a[0]; while (true) {}'],
  ['constant-change', 'switch (x) { case 1: b(); }'],
  [
    'string-change',
    'x = s.split(","); if (s.equals("get") || c == \':\') {}',
    'x = s.split(";"); if (s.equals("get") || c == \':\') {}',
    'x = s.split(","); if (s.equals("Get") || c == \':\') {}',
    'x = s.split(","); if (s.equals("get") || c == \';\') {}',
  ],
  ['string-change', 'x = "word"; y = "" + n;'],
  ['operand-swap', 'x = n - m; y = n - 1;', 'x = m - n; y = n - 1;'],
  [
    'argument-swap',
    'f(n, m); f(n, s); new T(s, r);',
    'f(m, n); f(n, s); new T(s, r);',
    'f(n, m); f(n, s); new T(r, s);',
  ],
  ['argument-swap', 'Math.max(n, m); f(g(), h());'],
  ['wrong-variable', 'return n;', 'return m;'],
  ['wrong-variable', 'Supplier<Integer> f = () -> g(n);'],
  ['call-swap', 'x = s.startsWith(r);', 'x = s.endsWith(r);'],
  ['call-swap', 'x = Math.min(n, m);', 'x = Math.max(n, m);'],
  [
    'index-change',
    'x = a[0] + a[i] + s.charAt(n - 1);',
    'x = a[1] + a[i] + s.charAt(n - 1);',
    'x = a[0] + a[i + 1] + s.charAt(n - 1);',
    'x = a[0] + a[i] + s.charAt(n);',
  ],
  [
    'loop-bound',
    'for (int i = 0; i < a.length; i++) {}',
    'for (int i = 1; i < a.length; i++) {}',
    'for (int i = 0; i < a.length - 1; i++) {}',
  ],
  ['loop-bound', 'for (int x : a) {}'],
  [
    'loop-control-swap',
    'for (int x : a) { if (x == 1) continue; break; }',
    'for (int x : a) { if (x == 1) break; break; }',
    'for (int x : a) { if (x == 1) continue; continue; }',
  ],
  ['loop-control-swap', 'for (;;) { break; } for (int x : a) { switch (x) { case 1: break; } }'],
  [
    'early-return',
    'for (int x : a) {\n      n += x;\n    }\n    return n;',
    'for (int x : a) {\n      n += x;\n      return n;\n    }\n    return n;',
  ],
  ['return-value', 'return n + 1;', 'return 0;'],
  ['branch-swap', 'if (a) { b(); } else { c(); }', 'if (a) { c(); } else { b(); }'],
  ['branch-swap', 'x = a ? 1 : 2;', 'x = a ? 2 : 1;'],
  ['branch-swap', 'if (o instanceof T t) { b(t); } else { c(); }'],
  [
    'statement-removal',
    'a.add(1);\n    this.x = 2;\n    n++;\n    return n;',
    'this.x = 2;\n    n++;\n    return n;',
    'a.add(1);\n    n++;\n    return n;',
    'a.add(1);\n    this.x = 2;\n    return n;',
  ],
  ['statement-removal', 'int y;\n    y = 1;\n    try { g(); } catch (IOException e) { }\n    System.exit(1);'],
  ['guard-removal', 'if (n < 0) {\n      return 0;\n    }\n    return n;', 'return n;'],
  ['guard-removal', 'if (n < 0) throw new T();\n    return n;', 'return n;'],
  ['guard-removal', 'if (!(o instanceof T t)) return 0;'],
  ['condition-removal', 'if (n < 0) {\n      n = 0;\n    }\n    return n;', 'return n;'],
  ['case-removal', 'if (a) { b(); } else if (c) { d(); } else { e(); }', 'if (a) { b(); } else { e(); }'],
  [
    'case-removal',
    'switch (n) {\n      case 1:\n        return 2;\n      case 2:\n        return 3;\n      default:\n        return 4;\n    }',
    'switch (n) {\n      case 2:\n        return 3;\n      default:\n        return 4;\n    }',
    'switch (n) {\n      case 1:\n        return 2;\n      default:\n        return 4;\n    }',
  ],
  ['null-guard-removal', 'if (s == null) {\n      return 0;\n    }\n    return n;', 'return n;'],
  ['null-guard-removal', 'x = s == null ? 0 : s.length();', 'x = s.length();'],
  ['null-guard-removal', 'x = o.orElse(1);', 'x = o.get();'],
  ['exception-swap', 'throw new IllegalArgumentException("a");', 'throw new IllegalStateException("a");'],
  [
    'exception-swap',
    'try { a(); } catch (NumberFormatException e) { }',
    'try { a(); } catch (NullPointerException e) { }',
  ],
  ['exception-swap', 'try { a(); } catch (IllegalStateException | FooException e) { }'],
];

/** Code of its own. */
const DECLARATIONS: readonly Cells[] = [
  ['return-value', 'String g() {\n    return a.b();\n  }', 'String g() {\n    return null;\n  }'],
  ['return-value', 'boolean g(int a) {\n    return a < 1;\n  }', 'boolean g(int a) {\n    return a >= 1;\n  }'],
  ['return-value', 'void g() {\n    return;\n  }'],
];

const inFunction = (code: string) => `class A {\n  int f(int n, int m, String s, String r) {\n    ${code}\n  }\n}\n`;
const inFile = (code: string) => `class A {\n  ${code}\n}\n`;
const row =
  (wrap: (code: string) => string) =>
  ([operator, before, ...after]: Cells): Row => [operator, 'java', wrap(before), ...after.map(wrap)];

describeTable([...STATEMENTS.map(row(inFunction)), ...DECLARATIONS.map(row(inFile))]);
