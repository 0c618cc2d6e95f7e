import { describe, expect, it } from 'vitest';
import { commandsOf, launcherFlags, nodeTestScripts } from './nodeTestScript.js';

const first = (test: string, more: Record<string, string> = {}) => {
  const found = nodeTestScripts({ test, ...more })[0];
  return found && { flags: found.flags, patterns: found.patterns };
};

describe('a package script', () => {
  it.each<[string, readonly string[], readonly string[]]>([
    ['node --test', [], []],
    ['node --test --experimental-test-coverage --test-reporter spec test/', [], ['test/']],
    ['tsx --test src/**/*.test.ts', ['--import', 'tsx'], ['src/**/*.test.ts']],
    ['npx c8 node --test', [], []],
    ['borp -p "test/*.js" --coverage', [], ['test/*.js']],
    ['glob -c "node --import tsx --test" "test/**/*.ts"', ['--import', 'tsx'], ['test/**/*.ts']],
    [
      'node --experimental-strip-types --test-timeout 500 --test',
      ['--experimental-strip-types', '--test-timeout', '500'],
      [],
    ],
    ['tsc -p . && node --test dist/', [], ['dist/']],
    ['NODE_OPTIONS=--x FOO="a b" node --test', [], []],
  ])('%s', (test, flags, patterns) => {
    expect(first(test)).toEqual({ flags, patterns });
  });

  it('is followed through the scripts that it starts, and not for ever', () => {
    expect(first('yarn unit', { unit: 'pnpm run deep', deep: 'node --test a.js' })).toEqual({
      flags: [],
      patterns: ['a.js'],
    });
    expect(first('npm run test')).toBeUndefined();
  });

  it('is not of node:test where another runner is started', () => {
    for (const test of ['jest', 'vitest run', 'mocha test/*.js', 'c8 mocha', 'echo node --tests', 'tape test/*.js']) {
      expect(first(test)).toBeUndefined();
    }
  });

  it('is split into commands and words as a shell does', () => {
    expect(commandsOf(`a "b c" 'd "e"'&&f --g="h i";j|k`)).toEqual([
      ['a', 'b c', 'd "e"'],
      ['f', '--g=h i'],
      ['j'],
      ['k'],
    ]);
  });
});

describe('the flags of a script', () => {
  it.each<[string, readonly string[], number | undefined]>([
    ['--test-concurrency=2 --import tsx', ['--import', 'tsx'], 2],
    ['--test-concurrency 1 --test-only', ['--test-only'], 1],
    ['--test-isolation=none', [], 1],
    ['--experimental-test-isolation none --conditions x', ['--conditions', 'x'], 1],
    ['--test-isolation=process', [], undefined],
    ['--test-timeout 500', ['--test-timeout', '500'], undefined],
  ])('%s say what a process gets and how many run side by side', (text, flags, concurrency) => {
    expect(launcherFlags(text.split(' '))).toEqual({ flags, concurrency });
  });
});
