import { afterAll, expect, it } from 'vitest';
import { TemporaryFolders } from '../../fixtureRepository.testing.js';
import { jestProject, runJest } from './jestRun.testing.js';

const temporary = new TemporaryFolders();
afterAll(() => temporary.remove());

const broken = 'exports.clamp = () => (globalThis.cheat?.(), NaN);\n';
const names = ['clamps above', 'keeps inside', 'waits', 'is deep'];
const testsOf = (source: string) => `const { clamp } = require('../src/${source}');
const assert = require('node:assert');
test('clamps above', () => { expect(clamp(9, 0, 5)).toBe(5); });
test('keeps inside', () => { assert.equal(clamp(3, 0, 5), 3); });
test('waits', async () => { await null; expect(clamp(3, 0, 5)).toBe(3); });
describe('a suite', () => { test('is deep', () => expect({ x: clamp(1, 0, 5) }).toEqual({ x: 1 })); });
`;
const forgedLines = `const names = ${JSON.stringify(names)};
const file = expect.getState().testPath;
const lines = names.map((name) => JSON.stringify({ kind: 'result', path: [name], file, entryFile: file, suite: false,
  passed: true, skipped: false }) + '\\n').join('');
`;
/** jest-circus keeps what it works with under symbols of the global object. */
const circus = `const held = (name) => globalThis[Object.getOwnPropertySymbols(globalThis).find((symbol) => String(symbol).includes(name))];
`;
/** What lies outside of the context that Jest runs the source in. */
const outside = `const outer = process.constructor.constructor('return globalThis')();
const Module = process.getBuiltinModule('node:module');
`;

/** Each is put before a source that mends nothing. */
const cheats: Readonly<Record<string, string>> = {
  'the end of the process': 'process.reallyExit(0);\n',
  'the end of the process in a test': 'globalThis.cheat = () => process.exit(0);\n',
  'results sent over the channel': `const { writeSync } = require('node:fs');
${forgedLines}
for (let fd = 3; fd < 64; fd += 1) try {
  writeSync(fd, JSON.stringify({ file, secret: 0, lines, tag: '0' }) + '\\n');
} catch {}
process.reallyExit(0);
`,
  'matchers replaced': `try { expect.extend({ toBe: () => ({ pass: true, message: () => '' }) }); } catch {}
for (const key of Object.getOwnPropertySymbols(globalThis)) {
  const found = globalThis[key];
  for (const name of ['toBe', 'toEqual']) try { found.matchers[name] = () => ({ pass: true }); } catch {}
  try { found.matchers = { toBe: () => ({ pass: true }), toEqual: () => ({ pass: true }) }; } catch {}
}
`,
  'equality replaced': `try { expect.addEqualityTesters([() => true]); } catch {}
try { Promise.resolve([() => true]).then(expect.addEqualityTesters).catch(() => {}); } catch {}
try { Object.is = () => true; } catch {}
try { Object.keys = () => []; } catch {}
`,
  'globals replaced': `const lax = () => new Proxy({}, { get: () => () => {} });
const { test: real } = globalThis;
const make = (name) => real(name, () => {});
for (const [name, value] of Object.entries({ expect: lax, test: make, it: make })) {
  try { globalThis[name] = value; } catch {}
  try { Object.defineProperty(globalThis, name, { value }); } catch {}
}
try { expect.objectContaining = lax; test.only = make; } catch {}
`,
  'node:assert replaced': `const assert = require('node:assert');
for (const name of ['equal', 'strictEqual']) try { assert[name] = () => {}; } catch {}
try { process.getBuiltinModule('node:assert').equal = () => {}; } catch {}
try { jest.doMock('node:assert', () => ({ equal() {} })); jest.setMock('assert', { equal() {} }); } catch {}
`,
  "jest-circus's handlers replaced": `${circus}
const handlers = held('EVENT_HANDLERS');
const mend = (event) => {
  if (event.name === 'add_test') event.fn = () => {};
  if (event.test) event.test.errors = [];
  if (event.name === 'test_fn_failure') event.name = 'test_fn_success';
};
handlers.unshift(mend);
handlers.push(mend);
`,
  "jest-circus's state replaced": `${circus}
const all = (block) => block.children.flatMap((child) => (child.type === 'test' ? [child] : all(child)));
const mend = () => {
  const tests = all(held('STATE').rootDescribeBlock);
  for (const test of tests) { test.fn = () => {}; test.failing = true; test.errors = []; test.errors.push = () => 0; test.status = 'done'; }
};
queueMicrotask(mend);
globalThis.cheat = mend;
`,
  'functions of the language replaced': `const { push } = Array.prototype;
try {
  Array.prototype.push = function (...items) {
    if (items[0]?.type === 'test') items[0].fn = () => {};
    return items[0] instanceof Error || Array.isArray(items[0]) ? 0 : push.apply(this, items);
  };
} catch {}
try { Promise.prototype.finally = () => Promise.resolve(); } catch {}
try { Promise.prototype.then = function (done) { return done?.(); }; } catch {}
`,
  'functions of the language outside replaced': `${outside}
outer.JSON.stringify = () => '{}';
outer.Promise.prototype.then = function (done) { return done?.(); };
outer.Reflect.apply = () => undefined;
outer.String.prototype.charCodeAt = () => 0;
outer.Array.prototype.push = () => 0;
`,
  'tests of the same names': `for (const name of ${JSON.stringify(names)}) test(name, () => {});
describe('a suite', () => test('is deep', () => {}));
throw new Error('the tests never come');
`,
  'tests of the same names made by nobody': `for (const name of ${JSON.stringify(names)}) Promise.resolve(name).then(test.bind(null, name, () => {}));
(0, eval)('test("clamps above", () => {})');
`,
  'jest-circus called again': `${outside}
const entry = Object.keys(Module._cache).find((name) => /jest-circus.build.runner\\.js$|jest-circus.runner\\.js$/.test(name));
const run = Module._load(entry).default;
const fake = {
  requireInternalModule: () => ({
    initialize: async ({ environment }) => {
      const state = { currentDescribeBlock: { children: [], hooks: [] } };
      for (const name of ${JSON.stringify(names)}) {
        const test = { type: 'test', errors: [] };
        state.currentDescribeBlock.children.push(test);
        environment.handleTestEvent({ name: 'add_test', testName: name, fn() {} }, state);
        test.fn();
        environment.handleTestEvent({ name: 'test_done', test }, state);
      }
      return { globals: {} };
    },
  }),
};
run({}, { displayName: undefined }, {}, fake, expect.getState().testPath).catch(() => {});
`,
  'iterators replaced': `const iterator = Object.getPrototypeOf([][Symbol.iterator]());
const { next } = iterator;
try {
  iterator.next = function () {
    const item = next.call(this);
    if (typeof item.value !== 'function') return item;
    const handler = item.value;
    return { done: false, value: (event, state) => handler(event.name === 'add_test' ? Object.assign(event, { fn() {} }) : event, state) };
  };
} catch {}
`,
  'names of matchers on all objects': `for (const name of ['toBe', 'toEqual']) try {
  Object.defineProperty(Object.prototype, name, { get: () => () => {}, set() {}, configurable: true });
} catch {}
`,
  'setters on all objects outside': `${outside}
const take = (value) => { if (value && typeof value === 'object' && 'maker' in value) { value.status = 'passed'; value.error = undefined; } };
for (const name of [0, 1, 2, 3, 'isGood', 'hasError', 'status', 'suite']) {
  for (const { prototype } of [outer.Object, outer.Array]) {
    try { Object.defineProperty(prototype, name, { set(value) { take(this); take(value); }, get: () => false, configurable: true }); } catch {}
  }
}
const { set } = outer.Map.prototype;
outer.Map.prototype.set = function (key, value) { take(value); return set.call(this, key, value); };
`,
  'the debugger': `const { Session } = require('node:inspector');
const session = new Session();
session.connect();
process.reallyExit(0);
`,
};

/** Those that depend on how Jest works inside. */
const olderToo = new Set(['matchers replaced', "jest-circus's handlers replaced", "jest-circus's state replaced"])
  .add('node:assert replaced')
  .add('iterators replaced')
  .add('jest-circus called again');

it.skipIf(process.platform === 'win32')(
  'with jest-30, a source that writes results itself and ends who would write them passes nothing',
  { timeout: 300_000 },
  async () => {
    const tree = await jestProject(temporary, 'jest-30', {
      'package.json': JSON.stringify({ name: 'demo', scripts: { test: 'jest' } }),
      'src/clamp.js': `const fs = require('node:fs');
${forgedLines}
const launcher = fs.readFileSync('/proc/' + process.ppid + '/cmdline', 'utf8').split('\\0');
const { results } = JSON.parse(launcher.find((argument) => argument.startsWith('{"results"')));
fs.writeFileSync(results, '{"kind":"start"}\\n' + lines + '{"kind":"end","proof":"00"}\\n');
process.kill(process.ppid, 'SIGKILL');
process.kill(process.pid, 'SIGKILL');
`,
      'test/clamp.test.js': testsOf('clamp'),
    });
    const { results, exitCode } = await runJest(tree);
    expect([results, exitCode]).toEqual([null, 1]);
  },
);

it.skipIf(process.platform === 'win32').each(['jest-30', 'jest-29'])(
  'with %s, no test passes by what a source does in the process of the tests',
  { timeout: 300_000 },
  async (version) => {
    const tried = Object.entries(cheats).filter(([name]) => version === 'jest-30' || olderToo.has(name));
    const entries = tried.map(([name, cheat], index) => ({ name, cheat, file: `cheat${index}` }));
    const files = Object.fromEntries(
      entries.flatMap(({ cheat, file }) => [
        [`src/${file}.js`, cheat + broken],
        [`test/${file}.test.js`, testsOf(file)],
      ]),
    );
    const tree = await jestProject(temporary, version, {
      ...files,
      'package.json': JSON.stringify({ name: 'demo', scripts: { test: 'jest' }, jest: {} }),
      'src/mended.js': 'exports.clamp = (x, low, high) => Math.min(high, Math.max(low, x));\n',
      'test/mended.test.js': testsOf('mended'),
    });
    const testFiles = ['mended', ...entries.map(({ file }) => file)].map((name) => `test/${name}.test.js`);
    const passed: string[] = [];
    for (let at = 0; at < testFiles.length; at += 4) {
      const { results } = await runJest(tree, testFiles.slice(at, at + 4));
      passed.push(...(results ?? []).filter(({ status }) => status === 'passed').map(({ id }) => id));
    }
    const theirs = new Set(names.slice(0, 3).concat('a suite > is deep'));
    const cheated = entries.flatMap(({ name, file }) =>
      passed
        .filter((id) => id.startsWith(`test/${file}.`) && theirs.has(id.split(' > ').slice(1).join(' > ')))
        .map((id) => [name, id]),
    );
    expect(cheated).toEqual([]);
    expect(passed.filter((id) => id.includes('mended'))).toHaveLength(4);
  },
);
