import type { Files } from '../../fixtureRepository.testing.js';

/** What a result line looks like where it is sent; a test prints it. */
const imitated = JSON.stringify({
  lines: `${JSON.stringify({ kind: 'result', path: ['imitated'], suite: false, passed: true, skipped: false })}\n`,
  tag: '0',
});

const lines = (...text: string[]) => `${text.join('\n')}\n`;

/** A project with every way that tests end but the end of the process, which is the end of all its tests. */
export const mochaFixture: Files = {
  'package.json': JSON.stringify({
    name: 'demo',
    scripts: { test: 'nyc --reporter=lcov mocha --recursive -R dot --exit' },
  }),
  '.mocharc.yml': lines(
    'require:',
    '  - ./prepare.cjs',
    'extension: [js, mjs]',
    'timeout: 60000',
    'parallel: true',
    'retries: 2',
  ),
  'prepare.cjs': lines(
    'exports.mochaHooks = { beforeEach() { globalThis.prepared = true; } };',
    'globalThis.before = undefined;',
  ),
  'src/clamp.js': lines(
    'exports.clamp = function clamp(x, low, high) {',
    "  if (typeof x !== 'number') throw new TypeError('x is no number');",
    '  return Math.min(high, Math.max(low, x)) + (x === 9 ? 1 : 0);',
    '};',
  ),
  'src/shared.js': "exports.shared = () => it('made by a source', () => {});\n",
  'test/support.js': 'beforeEach(function () { this.supported = true; });\n',
  'test/all.js': lines(
    "const assert = require('node:assert');",
    "const { expect } = require('chai');",
    "const { clamp } = require('../src/clamp.js');",
    "require('../src/shared.js').shared();",
    '',
    "it('passes', function () { assert.equal(clamp(3, 0, 5), 3); assert(this.supported && globalThis.prepared); });",
    "it('fails', () => {",
    '  expect(clamp(9, 0, 5)).to.equal(5);',
    '});',
    "it('throws', () => {",
    "  clamp('x', 0, 5);",
    '});',
    "it.skip('skipped', () => {});",
    "it('skips itself', function () { this.skip(); });",
    "it('to do');",
    "describe('suite', () => {",
    "  describe('inner', () => {",
    "    for (const x of [1, 2]) it('case ' + x, () => assert.strictEqual(x, 1));",
    "    it('twice', () => {});",
    "    it('twice', () => assert.fail('the second'));",
    '  });',
    '});',
    "describe('with a hook that fails', () => {",
    "  beforeEach(() => { throw new Error('no beginning'); });",
    "  it('never runs', () => {});",
    "  it('nor this', () => {});",
    '});',
    "describe('with an end that fails', () => {",
    "  after(() => { throw new Error('no end'); });",
    "  it('runs', () => {});",
    '});',
    'it(\'grüße 🎉 > "quoted"\', async () => { await null; });',
    "it('flaky', () => { globalThis.tries = (globalThis.tries ?? 0) + 1; assert.equal(globalThis.tries, 2); });",
    "it('too slow', function (done) { this.timeout(50); });",
    "it('calls back', (done) => setTimeout(done, 5));",
    "it('calls back with an error', (done) => setTimeout(() => done(new RangeError('late')), 5));",
    "it('throws later', (done) => { setTimeout(() => { throw new Error('much later'); }, 5); });",
    "it('rejects', async () => { await null; throw new RangeError('no'); });",
    `it('imitates', () => { console.log(${JSON.stringify(imitated)}); });`,
    "it('prints much', () => { for (let i = 0; i < 100; i += 1) console.log('x'.repeat(100_000)); });",
  ),
  'test/deep/module.mjs': lines(
    "import { expect } from 'chai';",
    "describe('module', () => {",
    "  it('loads', () => { expect([1, 2]).to.deep.equal([1, 2]); });",
    '});',
  ),
  'test/broken.js': "require('../src/nothing.js');\nit('a', () => {});\n",
  'test/syntax.js': "it('a', () => {\n",
};
