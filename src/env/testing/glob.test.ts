import { describe, expect, it } from 'vitest';
import { globToRegExp } from './glob.js';

describe('a glob', () => {
  it.each<[string, string[], string[]]>([
    ['test/*.js', ['test/a.js'], ['test/a/b.js', 'atest/a.js', 'test/a.jsx']],
    ['**/*.test.js', ['a.test.js', 'x/y/a.test.js'], ['a.js', 'a.test.jsx']],
    ['test/**', ['test/a', 'test/a/b.js'], ['tests/a']],
    ['*.{js,ts}', ['a.js', 'a.ts'], ['a.css', 'x/a.js']],
    ['**/*.test.?(c|m)js', ['a.test.js', 'a.test.cjs', 'x/a.test.mjs'], ['a.test.ts', 'a.test.cmjs']],
    ['@(a|b).js', ['a.js', 'b.js'], ['ab.js', '.js']],
    ['a?c[0-9].js', ['abc1.js'], ['ac1.js', 'abcx.js', 'a/c1.js']],
    ['a.b+(c).js', ['a.bc.js', 'a.bcc.js'], ['aXbc.js', 'a.b.js']],
  ])('%s', (glob, matching, others) => {
    const expression = globToRegExp(glob);
    expect(matching.filter((name) => !expression.test(name))).toEqual([]);
    expect(others.filter((name) => expression.test(name))).toEqual([]);
  });
});
