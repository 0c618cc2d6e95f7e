import { afterAll, describe, expect, it } from 'vitest';
import { TemporaryFolders, type Files } from '../../fixtureRepository.testing.js';
import { runDirectly } from '../runDirectly.testing.js';
import { Vitest } from './vitest.js';

const temporary = new TemporaryFolders();
afterAll(() => temporary.remove());

const names = ['is five', 'holds five', 'gives five'];
/** The tests of every cheat's source, which gives no five. */
const testsOf = (name: string) => `import { five } from '../src/${name}';
import { expect, test } from 'vitest';
test('is five', () => { expect(five()).toBe(5); });
test('holds five', () => { expect({ five: five() }).toEqual({ five: 5 }); });
test('gives five', async () => { await expect(Promise.resolve(five())).resolves.toBe(5); });
`;
const broken = 'export const five = () => ((globalThis as any).cheat?.(), NaN);\n';

/** Each is put before a source that mends nothing. */
const cheats: Readonly<Record<string, string>> = {
  nothing: '',
  'the end': 'process.reallyExit(0);',
  'a good end': "process.on('exit', () => process.reallyExit(0)); process.exit(0);",
  'the channel': `import { writeSync } from 'node:fs';
const result = (name) => JSON.stringify({ kind: 'result', path: [name], entryFile: 'x', suite: false, passed: true, skipped: false });
for (let fd = 4; fd < 64; fd += 1) try { writeSync(fd, JSON.stringify({ lines: ${JSON.stringify(names)}.map(result).join('\\n'), tag: '0' }) + '\\n'); } catch {}
process.reallyExit(0);`,
  'remote calls': `(globalThis as any).cheat = () => {
  const worker = (globalThis as any).__vitest_worker__;
  const tests = worker.current.file.tasks;
  for (const test of tests) test.result = { state: 'pass' };
  worker.rpc.onTaskUpdate(tests.map(({ id }) => [id, { state: 'pass' }, {}]), []);
  worker.rpc.onCollected([{ ...worker.current.file, tasks: [] }]);
};`,
  'matchers extended': `import { expect } from 'vitest';
const pass = () => ({ pass: true, message: () => '' });
try { expect.extend({ toBe: pass, toEqual: pass }); } catch {}`,
  'matchers replaced': `import { chai } from 'vitest';
for (const name of ['toBe', 'toEqual', 'equal', 'eql', 'assert']) {
  try { (chai.Assertion.prototype as any)[name] = () => {}; } catch {}
  try { Object.defineProperty(chai.Assertion.prototype, name, { value: () => {} }); } catch {}
  try { (chai.Assertion as any).overwriteMethod(name, () => () => {}); } catch {}
}`,
  'matchers found by symbols': `for (const symbol of Object.getOwnPropertySymbols(globalThis)) {
  const found = (globalThis as any)[symbol];
  const matchers = found?.matchers ?? {};
  for (const name of Object.keys(matchers)) try { matchers[name] = () => ({ pass: true, message: () => '' }); } catch {}
  try { found?.customEqualityTesters?.push(() => true); } catch {}
}`,
  'equality replaced': `import { expect } from 'vitest';
try { expect.addEqualityTesters([() => true]); } catch {}
try { Object.is = () => true; } catch {}
try { (Object.prototype as any).asymmetricMatch = () => true; } catch {}
try { Object.defineProperty(Object.prototype, 'asymmetricMatch', { value: () => true }); } catch {}`,
  'the language replaced': `const lax = function () { return this; };
for (const [holder, name] of [[Promise.prototype, 'then'], [Function.prototype, 'apply'], [Function.prototype, 'call'],
  [WeakMap.prototype, 'get'], [Map.prototype, 'get'], [Array.prototype, 'flatMap'], [Object, 'entries']] as any) {
  try { holder[name] = lax; } catch {}
  try { Object.defineProperty(holder, name, { value: lax }); } catch {}
}`,
  'the writing of JSON replaced': `(Object.prototype as any).toJSON = function () { if ('passed' in this) this.passed = true; return this; };
const { stringify } = JSON;
JSON.stringify = (value) => stringify(value)?.replaceAll('false', 'true');`,
  'functions of tests replaced': `import { getCurrentSuite, setFn } from 'vitest/suite';
const replace = () => { for (const test of getCurrentSuite().tasks as any) try { setFn(test, async () => {}); } catch {} };
queueMicrotask(() => queueMicrotask(replace)); setTimeout(replace); setImmediate(replace);
(globalThis as any).cheat = () => { for (const test of (globalThis as any).__vitest_worker__.current.file.tasks) setFn(test, async () => {}); };`,
  'tests expected to fail': `import { getCurrentSuite, getCurrentTest } from 'vitest/suite';
setTimeout(() => { for (const test of getCurrentSuite().tasks as any) test.fails = true; });
(globalThis as any).cheat = () => { (getCurrentTest() as any).fails = true; };`,
  'results that stay': `import { getCurrentTest } from 'vitest/suite';
(globalThis as any).cheat = () => {
  const test = getCurrentTest() as any;
  const { result } = test;
  Object.defineProperty(result, 'state', { get: () => 'pass', set() {} });
  Object.defineProperty(test, 'result', { get: () => result, set() {} });
};`,
  'the runner replaced': `import * as vitest from 'vitest';
const load = async () => (vitest as any).TestRunner ?? (await import('vitest/runners')).VitestTestRunner;
load().then((Runner) => {
  for (const name of ['onAfterTryTask', 'extendTaskContext', 'onAfterRunFiles']) try { Runner.prototype[name] = (value) => value; } catch {}
});`,
  'tests of the same names': `import { test } from 'vitest';
for (const name of ${JSON.stringify(names)}) test(name, () => {});`,
  'tests of the same names from a text': `import * as vitest from 'vitest';
(globalThis as any).vitest = vitest;
for (const name of ${JSON.stringify(names)}) (0, eval)('vitest.test(' + JSON.stringify(name) + ', () => {})//# sourceURL=' + __dirname + '/../test/a.test.ts');`,
  'tests with a false origin': `import { test } from 'vitest';
const site = { getFileName: () => import.meta.url.replace('/src/', '/test/').replace('.ts', '.test.ts'), isEval: () => false };
Object.defineProperty(Error, 'prepareStackTrace', { get: () => () => [site], set() {} });
for (const name of ${JSON.stringify(names)}) test(name, () => {});`,
  'tests renamed': `import { getCurrentSuite } from 'vitest/suite';
import { test } from 'vitest';
test('other', () => {});
setTimeout(() => { for (const task of getCurrentSuite().tasks as any) task.name = task.name === 'other' ? 'is five' : 'other'; });`,
  'another Vitest': `import { vi } from 'vitest';
const lax = () => new Proxy(() => {}, { get: () => lax, apply: () => undefined });
try { vi.doMock('vitest', async (original) => ({ ...(await original() as object), expect: lax })); } catch {}`,
  globals: `const lax: any = new Proxy(() => lax, { get: (_, name) => (name === 'then' ? undefined : lax) });
for (const name of ['expect', 'assert', 'chai']) try { (globalThis as any)[name] = lax; } catch {}`,
  'the debugger': `import { Session } from 'node:inspector';
try {
  const session = new Session();
  session.connect();
  session.post('Runtime.evaluate', { expression: '1' });
  process.reallyExit(0);
} catch {}`,
};

const slug = (name: string) => name.replaceAll(' ', '-');
const project: Files = {
  'package.json': JSON.stringify({ type: 'module', scripts: { test: 'vitest run --globals' } }),
  ...Object.fromEntries(
    Object.entries(cheats).flatMap(([name, cheat]) => [
      [`src/${slug(name)}.ts`, `${cheat}\n${broken}`],
      [
        `test/${slug(name)}.test.ts`,
        name === 'globals' ? testsOf(name).replace(/^import .*'vitest';\n/m, '') : testsOf(slug(name)),
      ],
    ]),
  ),
};

describe.each(['vitest-4', 'vitest-3'])('with %s, no test passes by', (installation) => {
  it('what a source does in the process of the tests', { timeout: 300_000 }, async () => {
    const { results, output } = await runDirectly(temporary, new Vitest(process.execPath), installation, project);
    expect(results, output.slice(-2000)).not.toBeNull();
    const isTheirs = (id: string) => names.some((name) => id.endsWith(`.test.ts > ${name}`));
    const passed = results?.filter(({ id, status }) => status === 'passed' && isTheirs(id)).map(({ id }) => id);
    expect(passed).toEqual([]);
    const failed = results?.filter(({ id }) => id.startsWith('test/nothing.test.ts')).map(({ id }) => id);
    expect(failed).toEqual(names.map((name) => `test/nothing.test.ts > ${name}`));
    const files = new Set(results?.map(({ file }) => file));
    expect(files.size).toBe(Object.keys(cheats).length);
  });
});
