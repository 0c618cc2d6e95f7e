import { describe, expect, it } from 'vitest';
import { jestScript, type JestScript } from './jestScript.js';

describe('the script that starts Jest', () => {
  it.each<[string, string, Partial<JestScript>]>([
    ['is plain', 'jest', { args: [], patterns: [], flags: [], env: {}, inOneProcess: false }],
    [
      'keeps what the tests need and drops how they are shown',
      'jest --env jsdom --coverage --ci -w 2 --silent',
      { args: ['--env=jsdom'] },
    ],
    [
      'names a configuration',
      'jest -c config/jest.json --bail',
      { args: ['--config=config/jest.json'], config: 'config/jest.json' },
    ],
    ['gives an option several values', 'jest --projects a b --verbose', { args: ['--projects=a', '--projects=b'] }],
    ['restricts the paths', 'jest ./src --testPathPattern unit', { patterns: ['src', 'unit'] }],
    ['asks for one process', 'jest -i', { inOneProcess: true }],
    ['asks for one worker', 'jest --maxWorkers=1', { inOneProcess: true }],
    [
      'gives Node flags by its environment',
      "cross-env TZ=UTC NODE_OPTIONS='--experimental-vm-modules --no-warnings --inspect' npx jest",
      { flags: ['--experimental-vm-modules', '--no-warnings'], env: { TZ: 'UTC' } },
    ],
    [
      'gives Node flags itself',
      'tsc && node --experimental-vm-modules -r ./hook.js node_modules/jest/bin/jest.js --ci',
      { flags: ['--experimental-vm-modules', '-r', './hook.js'] },
    ],
    [
      'asks Yarn where Jest is',
      'yarn node --experimental-vm-modules $(yarn bin jest)',
      { flags: ['--experimental-vm-modules'] },
    ],
  ])('%s', (_, test, expected) => {
    expect(jestScript({ test })).toMatchObject(expected);
  });

  it('is the one for unit tests, before those for special ones', () => {
    const scripts = { 'test:e2e': 'jest -c e2e.json', 'test:js': 'jest --env node', lint: 'jest-runner-eslint' };
    expect(jestScript(scripts)?.args).toEqual(['--env=node']);
  });

  it.each(['node --test', 'eslint jest', 'react-scripts test', 'vitest'])('is not %s', (test) => {
    expect(jestScript({ test })).toBeNull();
  });
});
