import { describe, expect, it } from 'vitest';
import { haveSameTokens } from './sameTokens.js';

describe('haveSameTokens', () => {
  it.each([
    ['spaces', 'f( a,b )', 'f(a, b)', 'javascript'],
    ['comments', 'f(a) // one', '/* two */ f(a)', 'typescript'],
    ['lines', 'f(\n  a,\n  b\n)', 'f(a, b)', 'javascript'],
    ['width of the indentation', 'if a:\n  b()\n', 'if a:\n    b()  # why\n', 'python'],
    ['spaces', 'func f() {\n\treturn\n}', 'func f()  {\n  return\n}', 'go'],
  ] as const)('is blind to %s', (_what, before, after, language) => {
    expect(haveSameTokens(before, after, language)).toBe(true);
  });

  it.each([
    ['a line that ends a statement', 'function f() { return\na }', 'function f() { return a }', 'javascript'],
    ['a statement that leaves its block', 'if a:\n  b()\n  c()\n', 'if a:\n  b()\nc()\n', 'python'],
    ['a number', 'f(1)', 'f(2)', 'javascript'],
    ['spaces in a string', "f('a b')", "f('a  b')", 'javascript'],
    ['text that does not parse', 'f((', 'f( (', 'javascript'],
  ] as const)('sees %s', (_what, before, after, language) => {
    expect(haveSameTokens(before, after, language)).toBe(false);
  });
});
