import type { Files } from '../../fixtureRepository.testing.js';

/** What a result line looks like where it is sent; a test prints it. */
const imitated = JSON.stringify({
  lines: `${JSON.stringify({ kind: 'result', path: ['imitated'], suite: false, passed: true, skipped: false })}\n`,
  tag: '0',
});

/** A project with every way that tests end. */
export const vitestFixture: Files = {
  'package.json': JSON.stringify({ name: 'demo', type: 'module', scripts: { test: 'vitest run' } }),
  'vitest.config.ts': [
    "import { defineConfig } from 'vitest/config';",
    "const setupFiles: string[] = ['./setup.ts'];",
    'export default defineConfig({ test: { setupFiles, testTimeout: 60_000, retry: 2 } });',
    '',
  ].join('\n'),
  'setup.ts':
    "import { expect } from 'vitest';\nexpect.extend({ toBeFive: (x) => ({ pass: x === 5, message: () => `${x} is not five` }) });\n",
  'src/clamp.ts': [
    'export function clamp(x: number, low: number, high: number): number {',
    "  if (typeof x !== 'number') throw new TypeError('x is no number');",
    '  return Math.min(high, Math.max(low, x)) + (x === 9 ? 1 : 0);',
    '}',
    '',
  ].join('\n'),
  'src/shared.ts': "import { test } from 'vitest';\nexport const shared = () => test('made by a source', () => {});\n",
  'test/all.test.ts': [
    "import { beforeAll, describe, expect, test } from 'vitest';",
    "import { clamp } from '../src/clamp';",
    "import { shared } from '../src/shared';",
    '',
    "test('passes', () => expect(clamp(3, 0, 5)).toBe(3));",
    "test('fails', () => {",
    '  expect(clamp(9, 0, 5)).toBe(5);',
    '});',
    "test('throws', () => {",
    "  clamp('x' as never, 0, 5);",
    '});',
    "test.skip('skipped', () => {});",
    "test('skips itself', (context) => context.skip());",
    "test.todo('to do');",
    "test.fails('fails as expected', () => expect(1).toBe(2));",
    "test.fails('passes unexpectedly', () => {});",
    "describe('suite', () => {",
    "  describe('inner', () => {",
    "    test.each([1, 2])('case %i', (x) => expect(x).toBe(1));",
    "    test('twice', () => {});",
    "    test('twice', () => expect(1).toBe(2));",
    '  });',
    '});',
    "describe('with a hook that fails', () => {",
    "  beforeAll(() => { throw new Error('no beginning'); });",
    "  test('never runs', () => {});",
    '});',
    'test(\'grüße 🎉 > "quoted"\', () => expect({ a: 1 }).toEqual({ a: 1 }));',
    "test('softly', () => { expect.soft(1).toBe(2); });",
    "test('own matcher', () => (expect(5) as any).toBeFive());",
    "test('flaky', { retry: 3 }, () => { (globalThis as any).tries = ((globalThis as any).tries ?? 0) + 1; expect((globalThis as any).tries).toBe(2); });",
    "test('too slow', () => new Promise(() => {}), 100);",
    `test('imitates', () => { console.log(${JSON.stringify(imitated)}); process.stdout.write(${JSON.stringify(imitated)} + '\\n'); });`,
    "test('rejects', async () => { await expect(Promise.reject(new RangeError('no'))).resolves.toBe(1); });",
    'shared();',
    '',
  ].join('\n'),
  'test/loud.test.ts':
    "import { test } from 'vitest';\ntest('prints much', () => { for (let i = 0; i < 100; i += 1) console.log('x'.repeat(100_000)); });\n",
  'test/broken.test.ts':
    "import { nope } from '../src/nothing';\nimport { test } from 'vitest';\ntest('a', () => nope());\n",
  'test/syntax.test.ts': "import { test } from 'vitest';\ntest('a', () => {\n",
  'test/crash.test.ts':
    "import { test } from 'vitest';\ntest('before', () => {});\ntest('crashes', () => { (process as any).reallyExit(0); });\n",
  'test/exit.test.ts':
    "import { test } from 'vitest';\ntest('exits', () => { process.exit(0); });\ntest('after', () => {});\n",
  'test/signal.test.ts':
    "import { test } from 'vitest';\ntest('is killed', () => { process.kill(process.pid, 'SIGKILL'); });\n",
  'test/late.test.ts':
    "import { test } from 'vitest';\ntest('rejects later', async () => { Promise.reject(new Error('nobody waits')); await new Promise((r) => setTimeout(r, 20)); });\n",
  'test/empty.test.ts': 'export {};\n',
};
