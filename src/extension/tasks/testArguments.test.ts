import { describe, expect, it } from 'vitest';
import { terminalText } from './terminalText.js';
import { testArguments } from './testArguments.js';

const wanted = { repoRoot: "/it's a repo", taskId: '--help', tree: 'start', all: 3 };

describe('the arguments of a run of tests', () => {
  it('name some tests, none of which can be an option', () => {
    expect(testArguments({ ...wanted, tests: ['--repo=/etc', 'a b'] }).slice(3)).toEqual([
      ...['--repo', "/it's a repo", '--tree', 'start', '--only=--repo=/etc', '--only=a b', '--', '--help'],
    ]);
  });

  it('name none where all are meant, and where they would be too many', () => {
    const named = (tests: readonly string[], all: number) =>
      testArguments({ ...wanted, tests, all }).filter((argument) => argument.startsWith('--only')).length;
    const many = Array.from({ length: 101 }, (_, index) => `test ${index}`);
    expect([named(['a', 'b', 'c'], 3), named(many, 1000), named(many.slice(1), 1000)]).toEqual([0, 0, 100]);
  });
});

describe('what tests wrote', () => {
  it('is lines for a terminal, without what would move its cursor or hide text', () => {
    expect(
      terminalText('\u001b[31mred\u001b[0m\r\nnext\n\u001b]8;;http://x\u0007link\u001b]8;;\u0007 \u202egnirts\u0008'),
    ).toBe('red\r\nnext\r\nlink \\u{202e}gnirts\\u{8}');
  });
});
