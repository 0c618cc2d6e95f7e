import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TemporaryFolders, type Files } from '../../fixtureRepository.testing.js';
import { Jest } from './jest.js';
import { expected, fixture, lines, linesOf, snapshot } from './jestFixture.testing.js';
import { parseJestResults } from './jestResults.js';
import { jestProject, runJest, type JestRun } from './jestRun.testing.js';

const temporary = new TemporaryFolders();
afterAll(() => temporary.remove());

describe.skipIf(process.platform === 'win32').each([
  ['jest-30', 'https://jestjs.io/docs/snapshot-testing'],
  ['jest-29', 'https://goo.gl/fbAQLP'],
])('%s', (version, address) => {
  let run: JestRun;
  beforeAll(async () => {
    run = await runJest(await jestProject(temporary, version, { ...fixture, ...snapshot(address) }));
  }, 300_000);

  it('says how every test ended, and why', () => {
    expect(linesOf(run.results)).toEqual(expected);
  });
});

/** Written by Jest 30.5 and 29.7 for that fixture in /tmp/jest. */
describe.each(['jest30.jsonl', 'jest29.jsonl'])("Jest's recorded results %s", (name) => {
  it('give ids, statuses and messages', async () => {
    const file = path.join(import.meta.dirname, '../../../../test-fixtures/runner-output', name);
    const isTestFile = (tested: string) => new Jest('node').isTestFile(tested);
    const results = parseJestResults(await readFile(file, 'utf8'), { tree: '/tmp/jest', isTestFile });
    expect(linesOf(results)).toEqual(expected);
  });
});

/** As repositories set it up: several projects, TypeScript, ES modules, an environment of their own. */
const projects: Files = {
  'package.json': JSON.stringify({
    name: 'demo',
    type: 'module',
    scripts: { test: "NODE_OPTIONS='--experimental-vm-modules' jest --ci" },
    jest: {
      projects: [
        { displayName: 'modules', testMatch: ['**/modules/*.test.mjs'], transform: {} },
        { displayName: 'types', preset: 'ts-jest', testMatch: ['**/types/*.test.ts'] },
        { displayName: 'place', testEnvironment: '<rootDir>/place.cjs', testMatch: ['**/place/*.test.cjs'] },
        { displayName: 'again', testMatch: ['**/place/*.test.cjs'] },
      ],
    },
  }),
  'tsconfig.json': JSON.stringify({ compilerOptions: { isolatedModules: true, module: 'commonjs', target: 'es2022' } }),
  'place.cjs': lines(
    "const { TestEnvironment } = require('jest-environment-node');",
    'module.exports = class extends TestEnvironment {',
    "  handleTestEvent(event) { if (event.name === 'test_start') this.global.seen = event.test.name; }",
    '};',
  ),
  'src/half.ts': lines('export const half = (x: number): number => x / 2;'),
  'modules/a.test.mjs': lines(
    "import { jest, test, expect } from '@jest/globals';",
    "const { value } = await import('./value.mjs');",
    "test('imports', () => expect(value).toBe(1));",
    "test('fails', async () => { jest.useFakeTimers(); await null; expect(value).toBe(2); });",
  ),
  'modules/value.mjs': lines('export const value = 1;'),
  'types/b.test.ts': lines(
    "import { half } from '../src/half';",
    '',
    'interface Pair { readonly left: number }',
    "test('is typed', () => { const pair: Pair = { left: half(4) }; expect(pair.left).toBe(2); });",
    "test('fails', () => expect(half(4)).toBe(3));",
  ),
  'place/c.test.cjs': lines("test('is seen', () => { expect(globalThis.seen).toBe('is seen'); });"),
  'place/taken.test.cjs': lines("test('is alone', () => { globalThis.test = null; });"),
};

describe.skipIf(process.platform === 'win32')('a repository with several projects', () => {
  it(
    'has the results of each, in TypeScript, ES modules and an environment of its own',
    { timeout: 300_000 },
    async () => {
      const { results, detected } = await runJest(await jestProject(temporary, 'jest-30', projects));
      expect(detected.testFiles).toHaveLength(4);
      expect(linesOf(results)).toEqual([
        'passed modules/a.test.mjs > imports',
        'failed modules/a.test.mjs > fails\nexpect(received).toBe(expected) // Object.is equality\nExpected: 2\nReceived: 1\nat modules/a.test.mjs:4',
        // In the project called again, then in the one called place.
        'failed place/c.test.cjs > is seen\nexpect(received).toBe(expected) // Object.is equality\nExpected: "is seen"\nReceived: undefined\nat place/c.test.cjs:1',
        'passed place/c.test.cjs > is seen #2',
        'passed place/taken.test.cjs > is alone',
        'passed place/taken.test.cjs > is alone #2',
        'passed types/b.test.ts > is typed',
        'failed types/b.test.ts > fails\nexpect(received).toBe(expected) // Object.is equality\nExpected: 3\nReceived: 2\nat types/b.test.ts:5',
      ]);
    },
  );
});
