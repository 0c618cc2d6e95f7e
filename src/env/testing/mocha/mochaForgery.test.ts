import { afterAll, describe, expect, it } from 'vitest';
import { TemporaryFolders, type Files } from '../../fixtureRepository.testing.js';
import { runDirectly } from '../runDirectly.testing.js';
import { Mocha } from './mocha.js';

const temporary = new TemporaryFolders();
afterAll(() => temporary.remove());

const names = ['is five', 'equals five', 'gives five'];
const broken = 'exports.five = () => (globalThis.cheat?.(), NaN);\n';

/** Each is put before a source that mends nothing. */
const cheats: Readonly<Record<string, string>> = {
  'the end': 'process.reallyExit(0);',
  'a good end': "process.on('exit', () => process.reallyExit(0)); process.exit(0);",
  'the end in a test': 'globalThis.cheat = () => process.exit(0);',
  'the channel': `const { writeSync } = require('node:fs');
const result = (name) => JSON.stringify({ kind: 'result', path: [name], entryFile: 'x', suite: false, passed: true, skipped: false });
for (let fd = 3; fd < 64; fd += 1) try { writeSync(fd, JSON.stringify({ lines: ${JSON.stringify(names)}.map(result).join('\\n'), tag: '0' }) + '\\n'); } catch {}
process.reallyExit(0);`,
  "node:assert's replaced": `const assert = require('node:assert');
const Module = require('node:module');
for (const name of ['equal', 'strictEqual', 'deepEqual']) try { assert[name] = () => {}; } catch {}
const lax = Object.assign(() => {}, { equal() {}, strictEqual() {}, deepEqual() {} });
const { _load } = Module;
Module._load = function (name, ...rest) { return /assert/.test(name) ? lax : _load.call(this, name, ...rest); };`,
  "chai's replaced": `const chai = require('chai');
for (const name of ['equal', 'eql', 'equals', 'assert']) {
  try { chai.Assertion.prototype[name] = () => {}; } catch {}
  try { Object.defineProperty(chai.Assertion.prototype, name, { value: () => {} }); } catch {}
  try { chai.Assertion.overwriteMethod(name, () => () => {}); } catch {}
  try { chai.assert[name] = () => {}; } catch {}
}`,
  'the language replaced': `const lax = function () { return this; };
for (const [holder, name] of [[Promise.prototype, 'then'], [Function.prototype, 'apply'], [Function.prototype, 'call'],
  [Map.prototype, 'get'], [Array.prototype, 'push'], [Object, 'is']]) {
  try { holder[name] = lax; } catch {}
  try { Object.defineProperty(holder, name, { value: lax }); } catch {}
}`,
  'the writing of JSON replaced': `Object.prototype.toJSON = function () { if ('passed' in this) this.passed = true; return this; };
const { stringify } = JSON;
JSON.stringify = (value) => stringify(value)?.replaceAll('false', 'true');`,
  'events changed': `const { EventEmitter } = require('node:events');
const { emit } = EventEmitter.prototype;
const pass = function (type, ...rest) {
  this.suite?.eachTest?.((test) => { test.fn = () => {}; test.run = (end) => end(); });
  return emit.call(this, type === 'fail' ? 'pass' : type, ...rest);
};
try { EventEmitter.prototype.emit = pass; } catch {}
try { Object.defineProperty(EventEmitter.prototype, 'emit', { value: pass }); } catch {}`,
  "Mocha's classes replaced": `const mocha = require('mocha');
const { Runnable, Runner, Suite } = mocha.default ?? mocha;
for (const [type, name] of [[Runnable, 'run'], [Runner, 'fail'], [Runner, 'runTest'], [Suite, 'addTest']]) {
  const lax = function (...rest) { rest.at(-1)?.(); };
  try { type.prototype[name] = lax; } catch {}
  try { Object.defineProperty(type.prototype, name, { value: lax }); } catch {}
}`,
  'the running test changed': `beforeEach(function () {
  const test = this.currentTest;
  for (const name of ['fn', 'run', 'callback', 'title']) {
    try { test[name] = name === 'run' ? (end) => end() : () => {}; } catch {}
    try { Object.defineProperty(test, name, { get: () => () => {} }); } catch {}
  }
});
afterEach(function () {
  Object.defineProperty(this.currentTest, 'state', { get: () => 'passed', set() {} });
});`,
  'a test called back early': `let test;
beforeEach(function () { test = this.currentTest; });
globalThis.cheat = () => test.callback?.();`,
  'functions of tests changed': `beforeEach(function () {
  const { fn } = this.currentTest;
  try { fn.call = () => {}; } catch {}
  try { Object.defineProperty(fn, 'call', { value: () => {} }); } catch {}
});`,
  'tests of the same names': `for (const name of ${JSON.stringify(names)}) it(name, () => {});`,
  'tests of the same names, and no others': `for (const name of ${JSON.stringify(names)}) it.only(name, () => {});`,
  'tests of the same names from a text': `for (const name of ${JSON.stringify(names)}) (0, eval)('it(' + JSON.stringify(name) + ', () => {})//# sourceURL=' + __dirname + '/../test/a.js');`,
  'tests with a false origin': `const site = { getFileName: () => require('node:path').resolve(__dirname, '../test/a.js'), isEval: () => false };
Object.defineProperty(Error, 'prepareStackTrace', { get: () => () => [site], set() {} });
for (const name of ${JSON.stringify(names)}) it(name, () => {});`,
  'functions that make tests replaced': `const { it: make } = globalThis;
const lax = (name) => make(name, () => {});
try { globalThis.it = lax; } catch {}
try { Object.defineProperty(globalThis, 'it', { value: lax }); } catch {}`,
  'a suite that is renamed': `const root = [];
before(function () { for (const test of this.test.parent.tests) root.push(test); });
it('other', () => {});
beforeEach(() => { for (const test of root) test.title = test.title === 'other' ? 'is five' : 'other'; });`,
  'the debugger': `const { Session } = require('node:inspector');
try {
  const session = new Session();
  session.connect();
  session.post('Runtime.evaluate', { expression: '1' });
  process.reallyExit(0);
} catch {}`,
};

const projectWith = (cheat: string): Files => ({
  'package.json': JSON.stringify({ scripts: { test: 'mocha' } }),
  'src/five.js': `${cheat}\n${broken}`,
  'test/a.js': `const { five } = require('../src/five.js');
const assert = require('node:assert');
const { expect } = require('chai');
it('is five', () => expect(five()).to.equal(5));
it('equals five', () => assert.equal(five(), 5));
it('gives five', async () => { await null; assert.deepEqual({ a: five() }, { a: 5 }); });
`,
});

/** Those of Mocha's own are also tried with the older version. */
const ofMocha = Object.keys(cheats).filter((name) => /mocha|test|suite|events/i.test(name));

describe.each([
  ['mocha-12', Object.keys(cheats)],
  ['mocha-10', ofMocha],
])('with %s, no test passes by', (installation, tried) => {
  const run = async (cheat: string) => {
    const { results, output } = await runDirectly(
      temporary,
      new Mocha(process.execPath),
      installation,
      projectWith(cheat),
    );
    const isTheirs = (id: string) => names.some((name) => id === `test/a.js > ${name}`);
    const theirs = results?.filter(({ id }) => isTheirs(id)) ?? [];
    const passed = theirs.filter(({ status }) => status === 'passed').map(({ id }) => id);
    return { passed, failed: theirs.filter(({ status }) => status === 'failed').length, output };
  };

  it.concurrent('nothing', { timeout: 60_000 }, async () => {
    expect(await run('')).toMatchObject({ passed: [], failed: 3 });
  });

  it.concurrent.each(tried)('%s', { timeout: 60_000 }, async (name) => {
    const { passed, output } = await run(cheats[name]);
    expect(passed, output).toEqual([]);
  });
});
