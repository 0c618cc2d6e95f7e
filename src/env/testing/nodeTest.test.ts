import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { TemporaryFolders, writeFiles, type Files } from '../fixtureRepository.testing.js';
import { NodeTest, parseNodeResults } from './nodeTest.js';

const temporary = new TemporaryFolders();
afterAll(() => temporary.remove());

const recorded = (name: string) =>
  readFile(path.join(import.meta.dirname, '../../../test-fixtures/runner-output', name), 'utf8');

/** Written by Node 20.20 and 24.22 for the same tests, which ran in /tmp/nt. */
describe.each(['node20.jsonl', 'node24.jsonl'])('the recorded results %s', (name) => {
  it('give the same ids, statuses and messages', async () => {
    const results = parseNodeResults(await recorded(name), '/tmp/nt');
    expect(results?.map(({ id, status, message }) => [status, id, message].join('\n'))).toEqual([
      "failed\ntest/broken.test.js\nSyntaxError: The requested module '../src/clamp.js' does not provide an export named 'nope'\nat test/broken.test.js:1",
      'failed\ntest/clamp.test.js > one\nExpected values to be strictly equal: 6 !== 5 (expected 5, actual 6)\nat test/clamp.test.js:3',
      'failed\ntest/clamp.test.js > one #2\nExpected values to be strictly deep-equal (expected { a: 1, b: [ 1, 3 ] }, actual { a: 1, b: [ 1, 2 ] })\nat test/clamp.test.js:4',
      'failed\ntest/clamp.test.js > thrower\nTypeError: bad a\nat src/clamp.js:1\nat test/clamp.test.js:5',
      'passed\ntest/clamp.test.js > ok\n',
      'skipped\ntest/clamp.test.js > sk\n',
      'skipped\ntest/clamp.test.js > td\n',
      'skipped\ntest/clamp.test.js > todo fail\n',
      'failed\ntest/clamp.test.js > s > inner > deep\nmulti\nline\nmessage\nat test/clamp.test.js:10',
      'passed\ntest/clamp.test.js > s > inner > okdeep\n',
      'failed\ntest/clamp.test.js > parent > child\nThe expression evaluated to a falsy value: assert.ok(false) (expected true, actual false)\nat test/clamp.test.js:11',
      'failed\ntest/clamp.test.js > parent\n1 subtest failed',
      'failed\ntest/clamp.test.js > msg\ncustom message (expected 2, actual 1)\nat test/clamp.test.js:12',
      'failed\ntest/clamp.test.js > rejects\nMissing expected rejection.\nat test/clamp.test.js:13',
      'failed\ntest/clamp.test.js > throws\nMissing expected exception. (expected /x/, actual undefined)\nat test/clamp.test.js:14',
      "failed\ntest/clamp.test.js > match\nThe input did not match the regular expression /x/. Input: 'abc' (expected /x/, actual 'abc')\nat test/clamp.test.js:15",
      "failed\ntest/clamp.test.js > str\nExpected values to be strictly equal (expected 'hello there\\nfoo', actual 'hello world\\nfoo')\nat test/clamp.test.js:16",
      'failed\ntest/clamp.test.js > timeout\ntest timed out after 20ms',
      'failed\ntest/clamp.test.js > null\nnull',
      'failed\ntest/clamp.test.js > obj\n{ code: 1 }',
      'passed\ntest/clamp.test.js > hookfail > a\n',
      'failed\ntest/syntax.test.js\nSyntaxError: Function statements require a function name\nat test/syntax.test.js:1',
    ]);
  });

  it('are incomplete wherever they are cut off', async () => {
    const text = await recorded(name);
    const lines = text.trimEnd().split('\n');
    expect(parseNodeResults(lines.slice(0, -1).join('\n'), '/tmp/nt')).toBeNull();
    expect(parseNodeResults(text.slice(0, text.length / 2), '/tmp/nt')).toBeNull();
    expect(parseNodeResults('', '/tmp/nt')).toBeNull();
  });
});

const launcherOptions = z.object({ flags: z.array(z.string()) });

describe('a test that a source made', () => {
  it('has its file in its name, and one that a helper of the tests made has not', () => {
    const line = (name: string, file: string) =>
      JSON.stringify({
        path: [name],
        file,
        entryFile: '/t/test/a.test.js',
        suite: false,
        passed: true,
        skipped: false,
      });
    const files = { one: '/t/test/a.test.js', two: '/t/test/helper.js', three: '/t/src/a.js', four: '' };
    const lines = Object.entries(files).map(([name, file]) => line(name, file));
    const text = ['{}', ...lines, '{"kind":"end"}'].join('\n');
    expect(parseNodeResults(text, '/t', (file) => file.startsWith('test/'))?.map(({ id }) => id)).toEqual([
      'test/a.test.js > one',
      'test/a.test.js > two',
      'test/a.test.js > src/a.js > three',
      'test/a.test.js > elsewhere > four',
    ]);
  });
});

describe('finding node:test', () => {
  const detect = async (files: Files) => {
    const tree = await temporary.folder();
    await writeFiles(tree, files);
    const [detected] = await new NodeTest('/usr/bin/node').detect(tree);
    if (detected === undefined) return null;
    const { argv, env } = detected.runner.command(detected, [], '/results');
    const { flags } = launcherOptions.parse(JSON.parse(argv[argv.length - 1]));
    return {
      root: detected.root,
      files: detected.testFiles,
      flags,
      env,
      isTestFile: (name: string) => detected.runner.isTestFile(name),
    };
  };
  const script = (test: string, more: Record<string, string> = {}) => ({
    'package.json': JSON.stringify({ scripts: { test, ...more } }),
  });
  const test = "import test from 'node:test';\n";

  it('takes the files that Node would take, helpers in test folders left out', async () => {
    const found = await detect({
      ...script('node --test'),
      'a.test.js': test,
      'test/b.js': test,
      'test/helper.js': 'export {};\n',
      'src/c.js': '',
      'node_modules/x/x.test.js': test,
    });
    expect(found).toMatchObject({ root: '.', files: ['a.test.js', 'test/b.js'], flags: [] });
  });

  it('takes the files that the script names, by glob, folder and name', async () => {
    const files = { 'spec/a.js': test, 'spec/deep/b.mjs': test, 'other.test.js': test };
    expect((await detect({ ...script('node --test spec/'), ...files }))?.files).toEqual([
      'spec/a.js',
      'spec/deep/b.mjs',
    ]);
    expect((await detect({ ...script("node --test 'spec/**/*.mjs'"), ...files }))?.files).toEqual(['spec/deep/b.mjs']);
    expect((await detect({ ...script('node --test ./spec/a.js'), ...files }))?.files).toEqual(['spec/a.js']);
  });

  it('keeps the flags that the tests need, through wrappers and other scripts', async () => {
    const found = await detect({
      ...script('npm run lint && npm run unit', {
        lint: 'eslint .',
        unit: 'cross-env NODE_ENV=test c8 --reporter lcov node --import tsx --test --test-reporter=spec test/*.ts',
      }),
      'test/a.ts': test,
    });
    expect(found).toMatchObject({ files: ['test/a.ts'], flags: ['--import', 'tsx'], env: { NODE_ENV: 'test' } });
  });

  it('takes a plain script that imports node:test, and not one that does not', async () => {
    expect(await detect({ ...script('node --conditions development test.js'), 'test.js': test })).toMatchObject({
      files: ['test.js'],
      flags: ['--conditions', 'development'],
    });
    expect(await detect({ ...script('node test.js'), 'test.js': "require('assert')(true)\n" })).toBeNull();
  });

  it('finds a package in a subfolder', async () => {
    const found = await detect({
      'README.md': '',
      'packages/a/package.json': script('node --test')['package.json'],
      'packages/a/a.test.js': test,
    });
    expect(found).toMatchObject({ root: 'packages/a', files: ['packages/a/a.test.js'] });
  });

  it('finds each package of a monorepo with its own script', async () => {
    const tree = await temporary.folder();
    await writeFiles(tree, {
      ...script('npm test --workspaces'),
      'packages/a/package.json': script('node --import ./setup.mjs --test')['package.json'],
      'packages/a/a.test.js': test,
      'packages/b/package.json': script('node --test checks/*.js')['package.json'],
      'packages/b/checks/b.js': test,
      'test/fixtures/c/package.json': script('node --test')['package.json'],
      'test/fixtures/c/c.test.js': test,
    });
    const found = await new NodeTest('/usr/bin/node').detect(tree);
    expect(found.map(({ root, testFiles }) => [root, testFiles])).toEqual([
      ['packages/a', ['packages/a/a.test.js']],
      ['packages/b', ['packages/b/checks/b.js']],
    ]);
  });

  it('keeps what the script imports before the tests from the policy', async () => {
    const found = await detect({ ...script('node --import ./setup.mjs --test'), 'a.test.js': test, 'setup.mjs': '' });
    expect(['setup.mjs', 'other.mjs'].map(found!.isTestFile)).toEqual([true, false]);
  });

  it('knows which files the policy may not change', async () => {
    const found = await detect({ ...script('node --test checks/*.js'), 'checks/a.js': test, 'src/b.js': '' });
    const isTestFile = found!.isTestFile;
    expect(
      ['checks/a.js', 'test/helper.js', 'a.test.ts', 'package.json', 'x/tsconfig.json'].filter(isTestFile),
    ).toHaveLength(5);
    expect(['src/b.js', 'src/contest.js', 'latest.js', 'src/testing.js'].filter(isTestFile)).toEqual([]);
  });
});
