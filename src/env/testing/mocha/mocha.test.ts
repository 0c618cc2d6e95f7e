import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { TemporaryFolders, writeFiles, type Files } from '../../fixtureRepository.testing.js';
import { listFiles } from '../listFiles.js';
import { parseNodeResults } from '../nodeTest.js';
import { linesOf, runDirectly, type DirectRun } from '../runDirectly.testing.js';
import { mochaFixture } from './fixture.testing.js';
import { Mocha } from './mocha.js';

const temporary = new TemporaryFolders();
afterAll(() => temporary.remove());

const expected = [
  "failed test/broken.js / Error: Cannot find module '../src/nothing.js' / at test/broken.js:1",
  'failed test/syntax.js / SyntaxError: Unexpected end of input / at test/syntax.js:2',
  'passed test/all.js > src/shared.js > made by a source',
  'passed test/all.js > passes',
  'failed test/all.js > fails / AssertionError: expected 6 to equal 5 / at test/all.js:8',
  'failed test/all.js > throws / TypeError: x is no number / at src/clamp.js:2 / at test/all.js:11',
  'skipped test/all.js > skipped',
  'skipped test/all.js > skips itself',
  'skipped test/all.js > to do',
  'passed test/all.js > suite > inner > case 1',
  'failed test/all.js > suite > inner > case 2 / Expected values to be strictly equal: 2 !== 1 / at test/all.js:18',
  'passed test/all.js > suite > inner > twice',
  'failed test/all.js > suite > inner > twice #2 / the second / at test/all.js:20',
  'failed test/all.js > with a hook that fails > never runs / no beginning / at test/all.js:24',
  'failed test/all.js > with a hook that fails > nor this / no beginning / at test/all.js:24',
  'passed test/all.js > with an end that fails > runs',
  'passed test/all.js > grüße 🎉 > "quoted"',
  'failed test/all.js > flaky / 1 == 2 / at test/all.js:33',
  'failed test/all.js > too slow / Timeout of 50ms exceeded. For async tests and hooks, ensure "done()" is called; if returning a Promise, ensure it resolves. (test/all.js)',
  'passed test/all.js > calls back',
  'failed test/all.js > calls back with an error / RangeError: late / at test/all.js:36',
  'failed test/all.js > throws later / much later / at test/all.js:37',
  'failed test/all.js > rejects / RangeError: no / at test/all.js:38',
  'passed test/all.js > imitates',
  'passed test/all.js > prints much',
  'passed test/deep/module.mjs > module > loads',
  'failed test/all.js > with an end that fails > "after all" hook / no end / at test/all.js:29',
];

const run = (installation: string, files: Files, testFiles?: readonly string[]) =>
  runDirectly(temporary, new Mocha(process.execPath), installation, files, testFiles);

describe.each(['mocha-12', 'mocha-10'])('with %s', (installation) => {
  let first: Promise<DirectRun> | undefined;
  const fixtureRun = () => (first ??= run(installation, mochaFixture));

  it('every way that a test ends is told apart, with a stable id and message', { timeout: 120_000 }, async () => {
    const { results, output } = await fixtureRun();
    expect(linesOf(results), output.slice(-2000)).toEqual(expected);
  });

  it(
    'nothing is left beside the tests, and results without the right key do not count',
    { timeout: 120_000 },
    async () => {
      const { tree, resultsFolder } = await fixtureRun();
      const [detected] = await new Mocha(process.execPath).detect(tree);
      expect(await detected.runner.parse(resultsFolder, detected, tree, 'another key')).toBeNull();
      expect(await listFiles(tree)).toEqual(Object.keys(mochaFixture).sort());
    },
  );

  it('files run alone give the same, with what holds hooks for all', { timeout: 120_000 }, async () => {
    const { results } = await run(installation, mochaFixture, ['test/deep/module.mjs']);
    expect(linesOf(results)).toEqual(['passed test/deep/module.mjs > module > loads']);
  });

  it('TypeScript, another interface and flags of Node come from the script', { timeout: 120_000 }, async () => {
    const script =
      "TS_NODE_TRANSPILE_ONLY=1 node --conditions special node_modules/.bin/mocha -r ts-node/register --ui tdd 'spec/**/*.ts'";
    const { results, output } = await run(installation, {
      'package.json': JSON.stringify({
        scripts: { test: script },
        imports: { '#kind': { special: './special.cjs', default: './none.cjs' } },
      }),
      'tsconfig.json': JSON.stringify({ compilerOptions: { module: 'commonjs' } }),
      'special.cjs': "module.exports = 'special';\n",
      'spec/deep/a.ts': [
        "import assert = require('node:assert');",
        "const kind: string = require('#kind');",
        "suite('typed', () => {",
        "  test('special', () => assert.strictEqual(kind as string, 'special'));",
        "  test('other', () => assert.strictEqual(kind, 'other' as string));",
        '});',
        '',
      ].join('\n'),
    });
    expect(linesOf(results), output).toEqual([
      'passed spec/deep/a.ts > typed > special',
      expect.stringMatching(/^failed spec\/deep\/a\.ts > typed > other .* at spec\/deep\/a\.ts:5$/),
    ]);
  });

  it.each(['process.exit(0)', 'process.reallyExit(0)', "process.kill(process.pid, 'SIGKILL')"])(
    'there are no results after %s in a test',
    { timeout: 120_000 },
    async (end) => {
      const { results } = await run(installation, {
        'package.json': JSON.stringify({ scripts: { test: 'mocha' } }),
        'test/a.js': `it('before', () => {});\nit('ends', () => { ${end}; });\n`,
      });
      expect(results).toBeNull();
    },
  );
});

describe("Mocha's recorded results", () => {
  /** Written by Mocha 12.0 for the fixture in /tmp/mt. */
  const recorded = () =>
    readFile(path.join(import.meta.dirname, '../../../../test-fixtures/runner-output/mocha12.jsonl'), 'utf8');

  it('give ids, statuses and messages', async () => {
    const isTestFile = (name: string) => new Mocha('node').isTestFile(name);
    expect(linesOf(parseNodeResults(await recorded(), '/tmp/mt', isTestFile))).toEqual(expected);
  });

  it('are incomplete where they are cut off', async () => {
    const text = await recorded();
    expect(parseNodeResults(text.slice(0, text.length / 2), '/tmp/mt')).toBeNull();
  });
});

describe('finding Mocha', () => {
  const detect = async (files: Files) => {
    const tree = await temporary.folder();
    await writeFiles(tree, files);
    return new Mocha('/usr/bin/node').detect(tree);
  };
  const script = (test: string, more: object = {}) =>
    JSON.stringify({ scripts: { test }, devDependencies: { mocha: '^11.0.0' }, ...more });
  const test = "it('a', () => {});\n";

  it('takes the files that Mocha would take, without those that hold no test', async () => {
    const files = {
      'test/a.js': test,
      'test/helper.js': '',
      'test/deep/b.js': test,
      'src/c.test.js': test,
      'test/d.ts': test,
    };
    expect(await detect({ 'package.json': script('mocha'), ...files })).toMatchObject([
      { root: '.', testFiles: ['test/a.js'] },
    ]);
    expect(await detect({ 'package.json': script('mocha --recursive'), ...files })).toMatchObject([
      { testFiles: ['test/a.js', 'test/deep/b.js'] },
    ]);
    expect(
      await detect({ 'package.json': script('c8 -r html mocha "src/**/*.test.js" test/*.ts'), ...files }),
    ).toMatchObject([{ testFiles: ['src/c.test.js', 'test/d.ts'] }]);
    expect(await detect({ 'package.json': script('node --test'), ...files })).toEqual([]);
  });

  it.each<[string, string]>([
    ['.mocharc.json', '{ "spec": ["checks/*.ts"], /* a comment */ "extension": ["ts"], "require": "./prepare.ts" }'],
    ['.mocharc.yml', 'require:\n  - ./prepare.ts # first\nspec: "checks/*.ts"\n'],
    ['.mocharc.cjs', "module.exports = { spec: 'checks/*.ts', require: ['./prepare.ts'] };"],
  ])('reads %s', async (name, text) => {
    const files = { 'checks/a.ts': test, 'test/b.js': test, 'prepare.ts': '', 'src/a.ts': '' };
    const [found] = await detect({ 'package.json': script('npm run lint && mocha'), [name]: text, ...files });
    expect(found.testFiles).toEqual(['checks/a.ts']);
    expect(['prepare.ts', 'src/a.ts'].map((file) => found.runner.isTestFile(file))).toEqual([true, false]);
  });

  it('reads the settings in package.json, and runs the packages of a monorepo in their own folders', async () => {
    const manifest = script('jest', { mocha: { spec: 'checks', ignore: 'checks/none.js' } });
    const found = await detect({
      'package.json': manifest,
      'checks/a.js': test,
      'checks/none.js': test,
      'packages/b/package.json': script('mocha'),
      'packages/b/test/b.js': test,
    });
    expect(found).toMatchObject([
      { root: '.', testFiles: ['checks/a.js'] },
      { root: 'packages/b', testFiles: ['packages/b/test/b.js'] },
    ]);
  });

  it('keeps the flags that the tests need', async () => {
    const line =
      'NODE_ENV=test NODE_OPTIONS="--import=tsx" mocha -R dot --bail --ui bdd -t 5000 --exit --require ./x.js --parallel';
    const [found] = await detect({ 'package.json': script(line), 'test/a.js': test });
    const { argv, env } = found.runner.command(found, [], '/results');
    expect(env).toMatchObject({ NODE_ENV: 'test' });
    const kept = { args: ['--ui', 'bdd', '-t', '5000', '--require', './x.js'], nodeFlags: ['--import=tsx'] };
    expect(argv[argv.length - 2]).toContain(JSON.stringify(JSON.stringify(kept).slice(1, -1)).slice(1, -1));
  });

  it('knows which files the policy may not change', () => {
    const is = (name: string) => new Mocha('node').isTestFile(name);
    const own = [
      'test/a.js',
      'a.spec.ts',
      'src/a_test.js',
      '.mocharc.js',
      'x/.mocharc.yaml',
      'package.json',
      'tsconfig.json',
    ];
    expect(own.filter((name) => !is(name))).toEqual([]);
    expect(['src/a.js', 'src/contest.js', 'src/mocharc.js'].filter(is)).toEqual([]);
  });
});
