import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { TemporaryFolders, writeFiles, type Files } from '../../fixtureRepository.testing.js';
import { listFiles } from '../listFiles.js';
import { parseNodeResults } from '../nodeTest.js';
import { linesOf, runDirectly, type DirectRun } from '../runDirectly.testing.js';
import { vitestFixture } from './fixture.testing.js';
import { Vitest } from './vitest.js';

const temporary = new TemporaryFolders();
afterAll(() => temporary.remove());

/** What both versions say, but for the words of a file that cannot be loaded. */
const expected = [
  'passed test/all.test.ts > passes',
  'failed test/all.test.ts > fails / AssertionError: expected 6 to be 5 // Object.is equality / at test/all.test.ts:7',
  'failed test/all.test.ts > throws / TypeError: x is no number / at src/clamp.ts:2 / at test/all.test.ts:10',
  'skipped test/all.test.ts > skipped',
  'skipped test/all.test.ts > skips itself',
  'skipped test/all.test.ts > to do',
  'passed test/all.test.ts > fails as expected',
  'failed test/all.test.ts > passes unexpectedly / Expect test to fail',
  'passed test/all.test.ts > suite > inner > case 1',
  'failed test/all.test.ts > suite > inner > case 2 / AssertionError: expected 2 to be 1 // Object.is equality / at test/all.test.ts:19',
  'passed test/all.test.ts > suite > inner > twice',
  'failed test/all.test.ts > suite > inner > twice #2 / AssertionError: expected 1 to be 2 // Object.is equality / at test/all.test.ts:21',
  'failed test/all.test.ts > with a hook that fails > never runs / no beginning / at test/all.test.ts:25',
  'passed test/all.test.ts > grüße 🎉 > "quoted"',
  'failed test/all.test.ts > softly / AssertionError: expected 1 to be 2 // Object.is equality / at test/all.test.ts:29',
  'passed test/all.test.ts > own matcher',
  'failed test/all.test.ts > flaky / AssertionError: expected 1 to be 2 // Object.is equality / at test/all.test.ts:31',
  'failed test/all.test.ts > too slow / Test timed out in 100ms. / If this is a long-running test, pass a timeout value as the last argument or configure it globally with "testTimeout". / at test/all.test.ts:32',
  'passed test/all.test.ts > imitates',
  'failed test/all.test.ts > rejects / AssertionError: promise rejected "RangeError: no" instead of resolving / at test/all.test.ts:34',
  'passed test/all.test.ts > src/shared.ts > made by a source',
  'failed test/broken.test.ts',
  'failed test/crash.test.ts / the process ended before its results were complete',
  'failed test/exit.test.ts > exits / process.exit unexpectedly called with "0" / at test/exit.test.ts:2',
  'passed test/exit.test.ts > after',
  'passed test/late.test.ts > rejects later',
  'failed test/late.test.ts / nobody waits / at test/late.test.ts:2',
  'passed test/loud.test.ts > prints much',
  'failed test/signal.test.ts / the process ended before its results were complete',
  'failed test/syntax.test.ts',
];
const withoutLoadErrors = (lines: readonly string[] | null) =>
  lines?.map((line) => line.replace(/^(failed test\/(broken|syntax)\.test\.ts) \/ .*$/, '$1'));

describe.each(['vitest-4', 'vitest-3'])('with %s', (installation) => {
  let first: Promise<DirectRun> | undefined;
  const fixtureRun = () =>
    (first ??= runDirectly(temporary, new Vitest(process.execPath), installation, vitestFixture));

  it('every way that a test ends is told apart, with a stable id and message', { timeout: 120_000 }, async () => {
    const { results } = await fixtureRun();
    expect(withoutLoadErrors(linesOf(results))).toEqual(expected);
    const broken = results?.find(({ id }) => id === 'test/broken.test.ts');
    expect(broken?.message).toMatch(
      /^Cannot find module '\.\.\/src\/nothing' imported from '?test\/broken\.test\.ts'?\nat /,
    );
  });

  it(
    'nothing is left beside the tests, and results without the right key do not count',
    { timeout: 120_000 },
    async () => {
      const { tree, resultsFolder } = await fixtureRun();
      const runner = new Vitest(process.execPath);
      const [detected] = await runner.detect(tree);
      expect(await runner.parse(resultsFolder, detected, tree, 'another key')).toBeNull();
      const written = Object.keys(vitestFixture).filter((name) => name.endsWith('.ts'));
      expect((await listFiles(tree)).filter((name) => name.endsWith('.ts') || name.includes('.vite'))).toEqual(
        written.sort(),
      );
    },
  );

  it('files run alone give the same, and projects of one file are told apart', { timeout: 120_000 }, async () => {
    const projects = ['one', 'two'].map((name) => ({ test: { name, include: ['test/*.test.ts'] } }));
    const files: Files = {
      'package.json': JSON.stringify({ type: 'module', scripts: { test: 'vitest' } }),
      'vitest.config.ts': `export default { test: { pool: 'threads', projects: ${JSON.stringify(projects)} } };\n`,
      'test/a.test.ts': "import { test } from 'vitest';\ntest('a', () => {});\n",
      'test/a.test.tsx': "import { test } from 'vitest';\ntest('x', () => {});\n",
    };
    const { results } = await runDirectly(temporary, new Vitest(process.execPath), installation, files, [
      'test/a.test.ts',
    ]);
    expect(linesOf(results)).toEqual(['passed test/a.test.ts > one > a', 'passed test/a.test.ts > two > a']);
  });
});

describe("Vitest's recorded results", () => {
  /** Written by Vitest 4.1 for the fixture in /tmp/vt. */
  const recorded = () =>
    readFile(path.join(import.meta.dirname, '../../../../test-fixtures/runner-output/vitest4.jsonl'), 'utf8');

  it('give ids, statuses and messages', async () => {
    const results = parseNodeResults(await recorded(), '/tmp/vt', (name) => new Vitest('node').isTestFile(name));
    expect(withoutLoadErrors(linesOf(results))).toEqual(expected);
  });

  it('are incomplete where they are cut off', async () => {
    const text = await recorded();
    expect(parseNodeResults(text.slice(0, text.length / 2), '/tmp/vt')).toBeNull();
  });
});

describe('finding Vitest', () => {
  const detect = async (files: Files) => {
    const tree = await temporary.folder();
    await writeFiles(tree, files);
    const detected = await new Vitest('/usr/bin/node').detect(tree);
    return detected.map(({ root, testFiles, runner }) => ({ root, testFiles, runner }));
  };
  const script = (test: string) => JSON.stringify({ scripts: { test }, devDependencies: { vitest: '^4.0.0' } });

  it('takes the files that Vitest would take', async () => {
    const files = {
      'a.test.ts': '',
      'src/b.spec.jsx': '',
      'dist/a.test.js': '',
      'test/helper.ts': '',
      'c.test.txt': '',
    };
    expect(await detect({ 'package.json': script('vitest run'), ...files })).toMatchObject([
      { root: '.', testFiles: ['a.test.ts', 'src/b.spec.jsx'] },
    ]);
    expect(await detect({ 'package.json': script('node --test'), ...files })).toEqual([]);
  });

  it('leaves the files of other runners out', async () => {
    const files = { 'a.test.ts': "import { test } from 'vitest';", 'b.test.ts': "import test from 'node:test';" };
    expect(await detect({ 'package.json': script('vitest'), ...files })).toMatchObject([{ testFiles: ['a.test.ts'] }]);
  });

  it('reads include, exclude and set-up files from a configuration', async () => {
    const config = `
      export default defineConfig({ test: {
        include: ['checks/**/*.ts', "other/*.js"], // include: ['none']
        exclude: ['checks/skip/**'],
        setupFiles: './prepare.ts', coverage: { include: ['src/**'], thresholds: { lines: 90 } },
      } });`;
    const files = { 'checks/a.ts': '', 'checks/skip/b.ts': '', 'other/c.js': '', 'a.test.ts': '', 'src/a.ts': '' };
    const [found] = await detect({ 'package.json': script('vitest'), 'vite.config.ts': config, ...files });
    expect(found.testFiles).toEqual(['checks/a.ts', 'other/c.js']);
    expect(['prepare.ts', 'src/a.ts'].map((name) => found.runner.isTestFile(name))).toEqual([true, false]);
  });

  it('takes the parts of names and the flags of the script, without those about how results are shown', async () => {
    const test =
      'NODE_ENV=test cross-env TZ=UTC vitest run --coverage --reporter verbose --config ci.config.ts --globals unit';
    const [found] = await detect({ 'package.json': script(test), 'unit/a.test.ts': '', 'e2e/b.test.ts': '' });
    expect(found.testFiles).toEqual(['unit/a.test.ts']);
    const { argv, env } = found.runner.command(found, [], '/results');
    expect(env).toMatchObject({ NODE_ENV: 'test', TZ: 'UTC' });
    expect(argv[argv.length - 2]).toContain('\\"args\\":[\\"--config\\",\\"ci.config.ts\\",\\"--globals\\"]');
  });

  it('runs the packages of a monorepo in their own folders, or all at once where the root lists them', async () => {
    const packages = {
      'packages/a/package.json': script('vitest'),
      'packages/a/a.test.ts': '',
      'packages/b/package.json': script('vitest'),
      'packages/b/b.test.ts': '',
    };
    expect(await detect({ 'package.json': script('pnpm -r test'), ...packages })).toMatchObject([
      { root: 'packages/a', testFiles: ['packages/a/a.test.ts'] },
      { root: 'packages/b', testFiles: ['packages/b/b.test.ts'] },
    ]);
    const workspace = { 'package.json': script('vitest'), 'vitest.workspace.ts': "export default ['packages/*'];" };
    expect(await detect({ ...workspace, ...packages })).toMatchObject([
      { root: '.', testFiles: ['packages/a/a.test.ts', 'packages/b/b.test.ts'] },
    ]);
  });

  it('knows which files the policy may not change', () => {
    const is = (name: string) => new Vitest('node').isTestFile(name);
    const own = [
      'a.test.ts',
      'test/helper.ts',
      'vitest.config.ts',
      'vite.config.mts',
      'vitest.setup.ts',
      'package.json',
    ];
    const snapshots = [
      'src/__snapshots__/a.test.ts.snap',
      'src/__mocks__/fs.ts',
      'x/tsconfig.json',
      'vitest.workspace.json',
    ];
    expect([...own, ...snapshots].filter((name) => !is(name))).toEqual([]);
    expect(['src/a.ts', 'src/contest.ts', 'src/vite.ts', 'src/testing.ts'].filter(is)).toEqual([]);
  });
});
