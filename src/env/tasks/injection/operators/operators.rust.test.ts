import { describeTable, type Row } from './operatorTable.testing.js';

type Cells = readonly [operator: string, before: string, ...after: string[]];

/** Code of a function. */
const STATEMENTS: readonly Cells[] = [
  ['comparison-flip', 'if a == b || c < d {}', 'if a != b || c < d {}', 'if a == b || c > d {}'],
  ['boundary', 'while i < n {}', 'while i <= n {}'],
  ['boundary', 'let x = if a < b { a } else { b };'],
  ['arithmetic-swap', 'let x = n * 2 + m;', 'let x = n * 2 - m;', 'let x = n / 2 + m;'],
  ['arithmetic-swap', 'let x = a + &b; let y = t.to_string() + s;'],
  ['assignment-swap', 'x += 1; t += s; x |= y;', 'x -= 1; t += s; x |= y;', 'x += 1; t += s; x &= y;'],
  ['negation', 'if !a { b(); }', 'if a { b(); }'],
  [
    'negation',
    'if a.is_empty() { b(); } if n < 1 { b(); } if let Some(x) = y { b(); }',
    'if !a.is_empty() { b(); } if n < 1 { b(); } if let Some(x) = y { b(); }',
    'if a.is_empty() { b(); } if n >= 1 { b(); } if let Some(x) = y { b(); }',
  ],
  ['logic-swap', 'let x = a && b;', 'let x = a || b;'],
  ['clause-removal', 'let x = a || b();', 'let x = a;', 'let x = b();'],
  [
    'constant-change',
    'let x = 0; let y = true; let z = 1.5; let w = 255u8;',
    'let x = 1; let y = true; let z = 1.5; let w = 255u8;',
    'let x = 0; let y = false; let z = 1.5; let w = 255u8;',
    'let x = 0; let y = true; let z = 2.5; let w = 255u8;',
    'let x = 0; let y = true; let z = 1.5; let w = 254u8;',
  ],
  [
    'constant-change',
    'let x: [u8; 4] = y; let z = t.0 + v[1]; println!("{}", 3); match n { 1 => a(), _ => b() } for i in 0..3 {}',
  ],
  [
    'string-change',
    'let x = s.split(","); if s == "get" || c == \':\' {}',
    'let x = s.split(";"); if s == "get" || c == \':\' {}',
    'let x = s.split(","); if s == "Get" || c == \':\' {}',
    'let x = s.split(","); if s == "get" || c == \';\' {}',
  ],
  ['string-change', 'let x = "word"; println!(",");'],
  ['operand-swap', 'let x = n - m; let y = n - 1;', 'let x = m - n; let y = n - 1;'],
  ['operand-swap', 'let x = t + "a";'],
  ['argument-swap', 'f(n, m); f(n, s); a.f(n, m);', 'f(m, n); f(n, s); a.f(n, m);', 'f(n, m); f(n, s); a.f(m, n);'],
  ['argument-swap', 'f(1, 2); n.max(m);'],
  ['wrong-variable', 'f(n)', 'f(m)'],
  ['wrong-variable', 'let v = vec![]; let w = vec![]; f(v);'],
  ['call-swap', 'let x = s.starts_with("a");', 'let x = s.ends_with("a");'],
  ['call-swap', 'let x = n.min(m);', 'let x = n.max(m);'],
  [
    'index-change',
    'let x = v[0] + v[i]; f(&s[1..end]);',
    'let x = v[1] + v[i]; f(&s[1..end]);',
    'let x = v[0] + v[i + 1]; f(&s[1..end]);',
    'let x = v[0] + v[i]; f(&s[2..end]);',
    'let x = v[0] + v[i]; f(&s[1..end + 1]);',
  ],
  ['index-change', 'let x = v.iter().nth(2);', 'let x = v.iter().nth(3);'],
  ['loop-bound', 'for i in 0..n {}', 'for i in 1..n {}', 'for i in 0..=n {}'],
  [
    'loop-bound',
    'for i in 1..=n {} for x in v {}',
    'for i in 0..=n {} for x in v {}',
    'for i in 1..n {} for x in v {}',
  ],
  [
    'loop-control-swap',
    'for x in v { if x == 1 { continue; } break; }',
    'for x in v { if x == 1 { break; } break; }',
    'for x in v { if x == 1 { continue; } continue; }',
  ],
  ['loop-control-swap', 'loop { break; } while a { continue; }'],
  [
    'early-return',
    'for x in v {\n        t.push(x);\n    }\n    n',
    'for x in v {\n        t.push(x);\n        return n;\n    }\n    n',
  ],
  ['early-return', 'for x in v {\n        return x;\n    }\n    n'],
  ['return-value', 'n + 1', '0'],
  ['branch-swap', 'let x = if a { 1 } else { 2 };', 'let x = if a { 2 } else { 1 };'],
  ['branch-swap', 'if let Some(x) = y { b(x); } else { c(); }'],
  [
    'statement-removal',
    'v.push(1);\n    self.a = 2;\n    g()?;\n    n',
    'self.a = 2;\n    g()?;\n    n',
    'v.push(1);\n    g()?;\n    n',
    'v.push(1);\n    self.a = 2;\n    n',
  ],
  ['statement-removal', 'let x;\n    x = 1;\n    println!("a");\n    panic!("a");\n    n'],
  ['guard-removal', 'if n > 3 {\n        return 0;\n    }\n    n', 'n'],
  ['guard-removal', 'for x in v { if x == 1 { continue; } f(x); }', 'for x in v {  f(x); }'],
  ['guard-removal', 'if let Some(x) = y { return x; }\n    let z = if a { return 1; };\n    n'],
  ['condition-removal', 'if n > 3 {\n        v.clear();\n    }\n    n', 'n'],
  ['case-removal', 'if a { 1 } else if b { 2 } else { 3 }', 'if a { 1 } else { 3 }'],
  [
    'null-guard-removal',
    'let x = y.unwrap_or(0); let z = y.unwrap_or_default();',
    'let x = y.unwrap(); let z = y.unwrap_or_default();',
    'let x = y.unwrap_or(0); let z = y.unwrap();',
  ],
  ['null-guard-removal', 'if y.is_none() {\n        return 0;\n    }\n    n', 'n'],
  ['error-check-removal', 'g()?;', 'let _ = g();'],
  ['error-check-removal', 'let x = g()?;'],
  [
    'exception-swap',
    'Err(io::Error::new(ErrorKind::NotFound, "a"))',
    'Err(io::Error::new(ErrorKind::InvalidInput, "a"))',
  ],
  [
    'exception-swap',
    'if a { return Err(Error::Short) } match e { Error::Long => 1 }; x = Error::Long;',
    'if a { return Err(Error::Long) } match e { Error::Long => 1 }; x = Error::Long;',
    'if a { return Err(Error::Short) } match e { Error::Long => 1 }; x = Error::Short;',
  ],
];

/** Code of its own. */
const DECLARATIONS: readonly Cells[] = [
  ['return-value', 'fn g() -> Option<u8> {\n    Some(1)\n}', 'fn g() -> Option<u8> {\n    None\n}'],
  [
    'return-value',
    'fn g(a: u8) -> bool {\n    if a > 1 {\n        return false;\n    }\n    a < 3\n}',
    'fn g(a: u8) -> bool {\n    if a > 1 {\n        return false;\n    }\n    a >= 3\n}',
  ],
  ['return-value', 'fn g() -> String {\n    String::from("a")\n}', 'fn g() -> String {\n    String::new()\n}'],
  ['return-value', 'fn g() -> Result<u8, E> {\n    Ok(1)\n}'],
  [
    'boundary',
    'fn g(a: u8) -> bool {\n    a < 1\n}\n\n#[cfg(test)]\nmod tests {\n    fn h(a: u8) -> bool {\n        a < 1\n    }\n}',
    'fn g(a: u8) -> bool {\n    a <= 1\n}\n\n#[cfg(test)]\nmod tests {\n    fn h(a: u8) -> bool {\n        a < 1\n    }\n}',
  ],
];

const inFunction = (code: string) => `fn f(n: usize, m: usize, s: &str) -> usize {\n    ${code}\n}\n`;
const inFile = (code: string) => `${code}\n`;
const row =
  (wrap: (code: string) => string) =>
  ([operator, before, ...after]: Cells): Row => [operator, 'rust', wrap(before), ...after.map(wrap)];

describeTable([...STATEMENTS.map(row(inFunction)), ...DECLARATIONS.map(row(inFile))]);
