/** For tests only: tests of every kind, and what Jest makes of them. */
import type { Files } from '../../fixtureRepository.testing.js';
import type { TestResult } from '../testRunner.js';

export const lines = (...text: string[]) => `${text.join('\n')}\n`;

export const fixture: Files = {
  'package.json': JSON.stringify({ name: 'demo', scripts: { test: 'jest --coverage --watchAll' } }),
  'jest.config.js': lines(
    "module.exports = { projects: [{ displayName: 'one', setupFilesAfterEnv: ['<rootDir>/test/prepare.js'] }] };",
  ),
  'test/prepare.js': lines(
    "expect.extend({ toBeFive: (x) => ({ pass: x === 5, message: () => x + ' is not five' }) });",
  ),
  'src/clamp.js': lines(
    'exports.clamp = (x, low, high) => Math.min(high, Math.max(low, x));',
    'exports.bad = () => {',
    "  throw new TypeError('bad input');",
    '};',
  ),
  'test/kinds.test.js': lines(
    "const assert = require('node:assert');",
    "const { clamp, bad } = require('../src/clamp');",
    "test('passes', () => expect(clamp(9, 0, 5)).toBe(5));",
    "test('fails', () => expect(clamp(9, 0, 5)).toBe(6));",
    "test('differs', () => expect({ a: [1, 2], b: 'x' }).toEqual({ a: [1, 3], b: 'x' }));",
    "test('throws', () => bad());",
    "test('asserts', () => assert.equal(1, 2));",
    "test.skip('is skipped', () => {});",
    "test.todo('is to be written');",
    "test.failing('fails as expected', () => expect(1).toBe(2));",
    "test.failing('passes unexpectedly', () => {});",
    "test('same', () => {});",
    "test('same', () => { throw new Error('the second'); });",
    "describe('ünïcode 🧪', () => { test('naïve – “quoted” > sign', () => {}); });",
    "describe.each([['a', 1], ['b', 2]])('suite %s', (_, n) => { test.each([[n]])('adds %i', (x) => expect(x).toBe(1)); });",
    "test('takes too long', () => new Promise(() => {}), 50);",
    "test('takes done', (done) => { setTimeout(done, 1); });",
    "test('gets an error by done', (done) => { done(new Error('by done')); });",
    "test('is asynchronous', async () => { await null; expect(1).toBeFive(); });",
    "test('rejects', () => Promise.reject(new Error('rejected')));",
    "test('waits for what is like a promise', () => ({ then: (resolve) => resolve(1) }));",
    "test('lacks an assertion', () => { expect.hasAssertions(); });",
    "test('imitates', () => { console.log('PASS ./test/kinds.test.js'); process.stdout.write('{\"kind\":\"end\"}\\n'); throw 'a text'; });",
    "test('generates', function* () { const x = yield Promise.resolve(5); expect(x).toBe(6); });",
    "test.concurrent('runs beside others', async () => { await null; });",
    "test.concurrent('fails beside others', async () => { await null; throw new Error('beside'); });",
    "describe('hooks', () => { beforeEach(() => { throw new Error('before'); }); test('cannot begin', () => {}); });",
    "describe('late', () => { afterAll(() => { throw new Error('after all'); }); test('is done by then', () => {}); });",
  ),
  'test/snapshot.test.js': lines(
    "test('is as it was', () => expect({ a: 1 }).toMatchSnapshot());",
    "test('is new', () => expect(1).toMatchSnapshot());",
  ),
  'test/broken.test.js': lines("require('../src/nowhere');", "test('never', () => {});"),
  'test/syntax.test.js': lines('test(', ''),
  'test/empty.test.js': '',
  'test/exits.test.js': lines("test('before', () => {});", "test('exits', () => process.exit(0));"),
  'test/killed.test.js': lines("test('is killed', () => process.kill(process.pid, 'SIGKILL'));"),
  'test/loud.test.js': lines("test('is loud', () => { process.stdout.write('x'.repeat(10 * 1024 * 1024)); });"),
  'test/open.test.js': lines("test('leaves a server', (done) => { require('http').createServer().listen(0, done); });"),
};

export const expected = [
  "failed test/broken.test.js\nCannot find module '../src/nowhere' from 'test/broken.test.js'\nat test/broken.test.js:1",
  'failed test/empty.test.js\nThe file holds no tests.',
  'failed test/exits.test.js\nthe process ended with exit code 0 before its results were complete',
  'failed test/killed.test.js\nthe process was ended by SIGKILL before its results were complete',
  'passed test/kinds.test.js > passes',
  'failed test/kinds.test.js > fails\nexpect(received).toBe(expected) // Object.is equality\nExpected: 6\nReceived: 5\nat test/kinds.test.js:4',
  'failed test/kinds.test.js > differs\nexpect(received).toEqual(expected) // deep equality\n- 3,\n+ 2,\nat test/kinds.test.js:5',
  'failed test/kinds.test.js > throws\nTypeError: bad input\nat src/clamp.js:3\nat test/kinds.test.js:6',
  'failed test/kinds.test.js > asserts\nAssertionError: 1 == 2\nat test/kinds.test.js:7',
  'skipped test/kinds.test.js > is skipped',
  'skipped test/kinds.test.js > is to be written',
  'skipped test/kinds.test.js > fails as expected',
  'failed test/kinds.test.js > passes unexpectedly\nFailing test passed even though it was supposed to fail. Remove `.failing` to remove error.\nat test/kinds.test.js:11',
  'passed test/kinds.test.js > same',
  'failed test/kinds.test.js > same #2\nthe second\nat test/kinds.test.js:13',
  'passed test/kinds.test.js > ünïcode 🧪 > naïve – “quoted” > sign',
  'passed test/kinds.test.js > suite a > adds 1',
  'failed test/kinds.test.js > suite b > adds 2\nexpect(received).toBe(expected) // Object.is equality\nExpected: 1\nReceived: 2\nat test/kinds.test.js:15',
  'failed test/kinds.test.js > takes too long\nExceeded timeout of 50 ms for a test.\nat test/kinds.test.js:16',
  'passed test/kinds.test.js > takes done',
  'failed test/kinds.test.js > gets an error by done\nby done\nat test/kinds.test.js:18',
  'failed test/kinds.test.js > is asynchronous\n1 is not five\nat test/kinds.test.js:19',
  'failed test/kinds.test.js > rejects\nrejected\nat test/kinds.test.js:20',
  'passed test/kinds.test.js > waits for what is like a promise',
  'failed test/kinds.test.js > lacks an assertion\nexpect.hasAssertions()\nExpected at least one assertion to be called but received none.\nat test/kinds.test.js:22',
  'failed test/kinds.test.js > imitates\na text',
  'failed test/kinds.test.js > generates\nexpect(received).toBe(expected) // Object.is equality\nExpected: 6\nReceived: 5\nat test/kinds.test.js:24',
  'passed test/kinds.test.js > runs beside others',
  'failed test/kinds.test.js > fails beside others\nbeside\nat test/kinds.test.js:26',
  'failed test/kinds.test.js > hooks > cannot begin\nbefore\nat test/kinds.test.js:27',
  'passed test/kinds.test.js > late > is done by then',
  'failed test/kinds.test.js\nafter all\nat test/kinds.test.js:28',
  'passed test/loud.test.js > is loud',
  'passed test/open.test.js > leaves a server',
  'failed test/snapshot.test.js > is as it was\nexpect(received).toMatchSnapshot()\n- "a": 2,\n+ "a": 1,\nat test/snapshot.test.js:1',
  'failed test/snapshot.test.js > is new\nexpect(received).toMatchSnapshot()\nSnapshot name: `is new 1`\nNew snapshot was not written. The update flag must be explicitly passed to write a new snapshot.\nReceived: 1\nat test/snapshot.test.js:2',
  'failed test/syntax.test.js\nSyntaxError: test/syntax.test.js: Unexpected token (3:0)\n  1 | test(\n  2 |\n> 3 |',
];

export const linesOf = (results: readonly TestResult[] | null) =>
  results?.map(({ status, id, message }) => `${status} ${id}${message && `\n${message}`}`);

/** Each version wants its own address on top. */
export const snapshot = (address: string) => ({
  'test/__snapshots__/snapshot.test.js.snap': lines(
    `// Jest Snapshot v1, ${address}`,
    '',
    'exports[`is as it was 1`] = `',
    '{',
    '  "a": 2,',
    '}',
    '`;',
  ),
});
