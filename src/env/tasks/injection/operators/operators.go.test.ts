import { describeTable, type Row } from './operatorTable.testing.js';

type Cells = readonly [operator: string, before: string, ...after: string[]];

/** Code of a function. */
const STATEMENTS: readonly Cells[] = [
  ['comparison-flip', 'if a == b || c < d {\n\t}', 'if a != b || c < d {\n\t}', 'if a == b || c > d {\n\t}'],
  ['boundary', 'for i < n {\n\t}', 'for i <= n {\n\t}'],
  ['boundary', 'if a > b {\n\t\tb = a\n\t}'],
  ['arithmetic-swap', 'x = n*2 + len(s)', 'x = n*2 - len(s)', 'x = n/2 + len(s)'],
  ['arithmetic-swap', 'x = a + b; y = "a" + b; z = a / 0'],
  [
    'assignment-swap',
    'n += 1\n\ts += "a"\n\tn++\n\tx += y',
    'n -= 1\n\ts += "a"\n\tn++\n\tx += y',
    'n += 1\n\ts = "a"\n\tn++\n\tx += y',
    'n += 1\n\ts += "a"\n\tn--\n\tx += y',
  ],
  ['assignment-swap', 'for i := 0; i < 3; i++ {\n\t}'],
  ['negation', 'if !a {\n\t\tb()\n\t}', 'if a {\n\t\tb()\n\t}'],
  ['negation', 'if f(a) {\n\t\tb()\n\t}', 'if !f(a) {\n\t\tb()\n\t}'],
  ['negation', 'if v := f(); v < 1 {\n\t\tb()\n\t}', 'if v := f(); v >= 1 {\n\t\tb()\n\t}'],
  ['logic-swap', 'x = a && b', 'x = a || b'],
  ['clause-removal', 'x = a || b()', 'x = a', 'x = b()'],
  ['clause-removal', 'if v, ok := m[k]; ok && v > 1 {\n\t}'],
  [
    'constant-change',
    'x = 0; y = true; z = 1.5',
    'x = 1; y = true; z = 1.5',
    'x = 0; y = false; z = 1.5',
    'x = 0; y = true; z = 2.5',
  ],
  [
    'constant-change',
    'var a [4]int\n\tx = a[0] + s[1:2][0]\n\tswitch x {\n\tcase 1:\n\t}\n\tfor i := 0; true; i++ {\n\t}',
  ],
  [
    'string-change',
    'x = strings.Split(s, ",")\n\tif s == "get" || c == \':\' {\n\t}',
    'x = strings.Split(s, ";")\n\tif s == "get" || c == \':\' {\n\t}',
    'x = strings.Split(s, ",")\n\tif s == "Get" || c == \':\' {\n\t}',
    'x = strings.Split(s, ",")\n\tif s == "get" || c == \';\' {\n\t}',
  ],
  ['string-change', 'x = "" + s; y = "word"'],
  ['operand-swap', 'x = a - b; y = a - 1', 'x = b - a; y = a - 1'],
  ['argument-swap', 'f(n, m); f(n, s); f(s, t)', 'f(m, n); f(n, s); f(s, t)', 'f(n, m); f(n, s); f(t, s)'],
  ['argument-swap', 'max(n, m); f(g(), h())'],
  ['wrong-variable', 'return n', 'return m'],
  ['wrong-variable', 'a := n\n\tb := 2\n\tuse(a, b)', 'a := m\n\tb := 2\n\tuse(a, b)'],
  ['call-swap', 'x = strings.HasPrefix(s, t)', 'x = strings.HasSuffix(s, t)'],
  ['call-swap', 'x = min(n, m)', 'x = max(n, m)'],
  ['index-change', 'x = s[0] + s[n:]', 'x = s[1] + s[n:]', 'x = s[0] + s[n + 1:]'],
  ['index-change', 'x = table[key]'],
  [
    'loop-bound',
    'for i := 0; i < len(s); i++ {\n\t}',
    'for i := 1; i < len(s); i++ {\n\t}',
    'for i := 0; i < len(s) - 1; i++ {\n\t}',
  ],
  ['loop-bound', 'for i := range s {\n\t}'],
  [
    'loop-control-swap',
    'for _, c := range s {\n\t\tif c == 1 {\n\t\t\tcontinue\n\t\t}\n\t\tbreak\n\t}',
    'for _, c := range s {\n\t\tif c == 1 {\n\t\t\tbreak\n\t\t}\n\t\tbreak\n\t}',
    'for _, c := range s {\n\t\tif c == 1 {\n\t\t\tcontinue\n\t\t}\n\t\tcontinue\n\t}',
  ],
  [
    'loop-control-swap',
    'for {\n\t\tbreak\n\t}\n\tfor _, c := range s {\n\t\tswitch c {\n\t\tcase 1:\n\t\t\tbreak\n\t\t}\n\t}',
  ],
  [
    'early-return',
    'for _, c := range s {\n\t\tn += c\n\t}\n\treturn n',
    'for _, c := range s {\n\t\tn += c\n\t\treturn n\n\t}\n\treturn n',
  ],
  ['return-value', 'return n + 1', 'return 0'],
  ['return-value', 'return 0'],
  ['branch-swap', 'if a {\n\t\tb()\n\t} else {\n\t\tc()\n\t}', 'if a {\n\t\tc()\n\t} else {\n\t\tb()\n\t}'],
  ['branch-swap', 'if a {\n\t\tb()\n\t} else if c {\n\t\td()\n\t}'],
  [
    'statement-removal',
    'use(n)\n\tx.y = 1\n\tn++\n\tn += 2\n\tpanic("a")',
    'x.y = 1\n\tn++\n\tn += 2\n\tpanic("a")',
    'use(n)\n\tn++\n\tn += 2\n\tpanic("a")',
    'use(n)\n\tx.y = 1\n\tn += 2\n\tpanic("a")',
    'use(n)\n\tx.y = 1\n\tn++\n\tpanic("a")',
  ],
  ['statement-removal', 'v := 1\n\tuse(v)'],
  ['guard-removal', 'if n < 0 {\n\t\treturn 0\n\t}\n\treturn n', 'return n'],
  ['guard-removal', 'if n == 0 {\n\t\tpanic("a")\n\t}\n\treturn n', 'return n'],
  ['guard-removal', 'if err != nil {\n\t\treturn 0\n\t}\n\tif p == nil {\n\t\treturn 0\n\t}'],
  ['condition-removal', 'if n < 0 {\n\t\tn = 0\n\t}\n\treturn n', 'return n'],
  [
    'case-removal',
    'if a {\n\t\tb()\n\t} else if c {\n\t\td()\n\t} else {\n\t\te()\n\t}',
    'if a {\n\t\tb()\n\t} else {\n\t\te()\n\t}',
  ],
  ['case-removal', 'switch n {\n\tcase 1:\n\t\ta()\n\tcase 2:\n\t\tb()\n\t}'],
  ['null-guard-removal', 'if p == nil {\n\t\treturn 0\n\t}\n\treturn n', 'return n'],
  ['error-check-removal', 'if err := g(); err != nil {\n\t\treturn 0\n\t}', '_ = g()'],
  ['error-check-removal', 'x, err := g()\n\tif err != nil {\n\t\treturn 0\n\t}\n\tuse(x)', 'x, _ := g()\n\tuse(x)'],
  [
    'error-check-removal',
    'x, err := g()\n\tif err != nil {\n\t\treturn 0\n\t}\n\ty, err := g()\n\tuse(x, y, err)',
    'x, err := g()\n\ty, err := g()\n\tuse(x, y, err)',
  ],
  ['error-check-removal', 'v, ok := table[n]\n\tif !ok {\n\t\treturn 0\n\t}\n\tuse(v)', 'v, _ := table[n]\n\tuse(v)'],
  ['error-check-removal', 'err := g()\n\tif err != nil {\n\t\treturn 0\n\t}', '_ = g()'],
  ['exception-swap', 'x = io.EOF', 'x = io.ErrUnexpectedEOF'],
];

/** Code of its own. */
const DECLARATIONS: readonly Cells[] = [
  [
    'return-value',
    'func g() (*T, string, error) {\n\tx, err := h()\n\tuse(x, err)\n\treturn x, a, err\n}',
    'func g() (*T, string, error) {\n\tx, err := h()\n\tuse(x, err)\n\treturn nil, a, err\n}',
    'func g() (*T, string, error) {\n\tx, err := h()\n\tuse(x, err)\n\treturn x, "", err\n}',
    'func g() (*T, string, error) {\n\tx, err := h()\n\tuse(x, err)\n\treturn x, a, nil\n}',
  ],
  ['return-value', 'func g(a, b int) bool {\n\treturn a < b\n}', 'func g(a, b int) bool {\n\treturn a >= b\n}'],
  [
    'exception-swap',
    'var ErrShort = errors.New("a")\nvar ErrLong = errors.New("b")\n\nfunc g() error {\n\treturn ErrShort\n}',
    'var ErrShort = errors.New("a")\nvar ErrLong = errors.New("b")\n\nfunc g() error {\n\treturn ErrLong\n}',
  ],
];

const inFunction = (code: string) => `package p\n\nfunc f(n, m int, s, t string) int {\n\t${code}\n}\n`;
const inFile = (code: string) => `package p\n\n${code}\n`;
const row =
  (wrap: (code: string) => string) =>
  ([operator, before, ...after]: Cells): Row => [operator, 'go', wrap(before), ...after.map(wrap)];

describeTable([...STATEMENTS.map(row(inFunction)), ...DECLARATIONS.map(row(inFile))]);
