import { symlink } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installedRunner } from '../../../../test/runners/install.js';
import { TemporaryFolders, writeFiles, type Files } from '../../fixtureRepository.testing.js';
import { runIn, summary } from '../commandRun.testing.js';
import { ConfiguredRunner, runsOf } from './configuredRunner.js';
import { parseRunners } from './runnersConfig.js';

const temporary = new TemporaryFolders();
afterAll(() => temporary.remove());

const lines = (...text: string[]) => `${text.join('\n')}\n`;
const launcher = { program: process.execPath, env: {} };

/** A tree of these files, with the installed tool of this name in its dependencies, and what its configuration finds. */
async function tree(runner: object, files: Files, tool?: string) {
  const folder = await temporary.folder("a tree's folder");
  const config = JSON.stringify({ runners: [{ name: 'own', ...runner }] });
  await writeFiles(folder, { 'whetstone.config.json': config, ...files });
  if (tool !== undefined)
    await symlink(path.join(await installedRunner(tool), 'node_modules'), path.join(folder, 'node_modules'));
  const [detected] = await new ConfiguredRunner(launcher).detect(folder);
  return { folder, detected };
}

describe('a configured command', () => {
  // Installing takes its time.
  beforeAll(async () => {
    await Promise.all([installedRunner('tape-5'), installedRunner('bats-1')]);
  }, 300_000);

  it('gives the results of tape, file for file', { timeout: 60_000 }, async () => {
    const { folder, detected } = await tree(
      {
        command: [process.execPath, 'node_modules/tape/bin/tape', '{file}'],
        testFiles: ['test/*.js'],
        results: { format: 'tap', stdout: true },
      },
      {
        'test/kinds.js': lines(
          "const test = require('tape');",
          "test('clamps', (t) => { t.equal(5, 5); t.equal(5, 6, 'is six'); t.end(); });",
          "test('throws', (t) => { t.throws(() => {}); t.end(); });",
          "test.skip('later', (t) => t.end());",
          "test('some day', { todo: true }, (t) => { t.ok(false, 'not yet'); t.end(); });",
          "test('clamps', (t) => { t.equal(5, 5); t.end(); });",
          "test('ünïcode 日本', (t) => { t.pass('# é'); t.end(); });",
        ),
        'test/loud.js':
          "require('tape')('loud', (t) => { console.log('x'.repeat(1e7)); t.pass('was loud'); t.end(); });\n",
      },
      'tape-5',
    );
    expect(summary(await runIn(temporary, folder, detected))).toEqual([
      'passed test/kinds.js > clamps > should be strictly equal',
      'failed test/kinds.js > clamps > is six\n    operator: equal\n    expected: 6\n    actual:   5\n      Error: is six\n  at test/kinds.js:2',
      'failed test/kinds.js > throws > should throw\n    operator: throws\n    expected: undefined\n    actual:   undefined\n      Error: should throw\n  at test/kinds.js:3',
      'skipped test/kinds.js > TODO some day > not yet',
      'passed test/kinds.js > clamps > should be strictly equal #2',
      'passed test/kinds.js > ünïcode 日本 > # é',
      // The name of the test is the file's.
      'passed test/loud.js > was loud',
    ]);
  });

  it('gives the results of bats, of which several files are one stream', { timeout: 60_000 }, async () => {
    const { folder, detected } = await tree(
      {
        command: ['node_modules/bats/bin/bats', '--report-formatter', 'junit', '--output', 'reports', '{files}'],
        testFiles: ['test/**/*.bats'],
        results: { format: 'junit', path: 'reports/*.xml' },
      },
      {
        'reports/report.xml': '<testsuite><testcase name="old"/></testsuite>',
        'test/a.bats': lines(
          '@test "passes" { true; }',
          '@test "fails <&> ünïcode" { echo "said so"; [ 1 -eq 2 ]; }',
          '@test "is skipped" { skip "not here"; }',
          '@test "imitates" { echo "ok 9 - forged"; echo "</testcase><testcase name=\\"forged\\"/>"; false; }',
        ),
        'test/sub dir/b.bats': lines('@test "passes" { true; }'),
      },
      'bats-1',
    );
    expect(detected.testFiles).toEqual(['test/a.bats', 'test/sub dir/b.bats']);
    const whole = await runIn(temporary, folder, detected);
    expect(summary(whole)).toEqual([
      'passed test/a.bats > passes',
      'failed test/a.bats > fails <&> ünïcode\n  (in test file test/a.bats, line 2)\n' +
        '    `@test "fails <&> ünïcode" { echo "said so"; [ 1 -eq 2 ]; }\' failed\n  said so\n  at test/a.bats:2',
      'skipped test/a.bats > is skipped',
      'failed test/a.bats > imitates\n  (in test file test/a.bats, line 4)\n' +
        '    `@test "imitates" { echo "ok 9 - forged"; echo "</testcase><testcase name=\\"forged\\"/>"; false; }\' failed\n' +
        '  ok 9 - forged\n  </testcase><testcase name="forged"/>\n  at test/a.bats:4',
      'passed test/sub dir/b.bats > passes',
    ]);
    const one = await runIn(temporary, folder, detected, ['test/sub dir/b.bats']);
    expect(summary(one)).toEqual(['passed test/sub dir/b.bats > passes']);
  });

  /** A command that is a script of Node's, whose output is TAP. */
  const script = (text: string, more: object = {}) =>
    tree(
      { command: [process.execPath, 'run.cjs'], testFiles: ['a.t'], results: { format: 'tap', stdout: true }, ...more },
      { 'run.cjs': text, 'a.t': '' },
    );
  const statuses = async ({ folder, detected }: Awaited<ReturnType<typeof script>>) =>
    (await runIn(temporary, folder, detected)).results?.map(({ status, id }) => `${status} ${id}`);

  it.each([
    ['says that it failed while no test did', "console.log('1..1\\nok 1 - a'); process.exitCode = 1"],
    ['ends in the midst', "console.log('1..2\\nok 1 - a')"],
    ['is killed', "console.log('1..1\\nok 1 - a'); process.kill(process.pid, 'SIGKILL')"],
    ['does not start', 'null.null'],
    ['kills what started it', "console.log('1..1\\nok 1 - a'); process.kill(process.ppid, 'SIGKILL')"],
  ])('has no results where it %s', { timeout: 60_000 }, async (_, text) => {
    expect(await statuses(await script(text))).toBeUndefined();
  });

  it('is ended, with all that it started, when its time is over', { timeout: 60_000 }, async () => {
    const text =
      "console.log('1..1\\nok 1 - a'); require('child_process').spawn('sleep', ['600'], { stdio: 'inherit' });";
    expect(await statuses(await script(text, { timeoutSeconds: 1 }))).toBeUndefined();
  });

  it('may end with success though tests failed', { timeout: 60_000 }, async () => {
    expect(await statuses(await script("console.log('1..2\\nnot ok 1 - a\\nok 2 - b')"))).toEqual([
      'failed a.t > a',
      'passed a.t > b',
    ]);
  });

  it('has the variables that it is given, and neither the key nor its place', { timeout: 60_000 }, async () => {
    const text =
      "console.log('1..1\\nok 1 - ' + process.env.OWN + ' ' + Object.keys(process.env).filter((name) => /KEY/.test(name)))";
    expect(await statuses(await script(text, { env: { OWN: 'x y' } }))).toEqual(['passed a.t > x y']);
  });

  it('takes no results that lay there before, and none through a link', { timeout: 60_000 }, async () => {
    const old = '<testsuite><testcase name="old"/></testsuite>';
    const { folder, detected } = await tree(
      { command: [process.execPath, '-e', ''], testFiles: ['a.t'], results: { format: 'junit', path: 'out/**/*.xml' } },
      { 'a.t': '', 'out/deep/old.xml': old, 'elsewhere.xml': old },
    );
    await symlink('../elsewhere.xml', path.join(folder, 'out/linked.xml'));
    expect((await runIn(temporary, folder, detected)).results).toBeNull();
  });

  it('is found where its test files are, whatever the tree of another time configures', async () => {
    const runner = {
      command: ['x'],
      root: 'packages/b',
      testFiles: ['t/*.t'],
      configuration: ['../shared/*.inc'],
      results: { format: 'tap', stdout: true },
    };
    const files = { 'packages/b/t/a.t': '', 't/b.t': '' };
    const { detected } = await tree(runner, files);
    expect([detected.runner.name, detected.root, detected.testFiles]).toEqual([
      'own',
      'packages/b',
      ['packages/b/t/a.t'],
    ]);
    const is = (name: string) => detected.runner.isTestFile(name);
    expect(['packages/b/t/new.t', 'packages/shared/x.inc', 'whetstone.config.json'].every(is)).toBe(true);
    expect(['packages/b/src/a.c', 't/b.t'].some(is)).toBe(false);
    const unbound = new ConfiguredRunner(launcher);
    const now = await temporary.folder();
    await writeFiles(now, {
      ...files,
      'whetstone.config.json': JSON.stringify({ runners: [{ name: 'own', ...runner }] }),
    });
    const before = await temporary.folder();
    await writeFiles(before, files);
    expect(await unbound.detect(now)).toHaveLength(1);
    expect(await unbound.detect(before)).toHaveLength(1);
  });

  it('says which program is missing', async () => {
    const { detected } = await tree(
      { command: ['no-such'], testFiles: ['a'], results: { format: 'tap', stdout: true } },
      { a: '' },
    );
    expect(detected.runner.check).toMatchObject({
      argv: expect.arrayContaining(['no-such']) as string[],
      problem: { message: 'The tests run with own, and its program no-such was not found.' },
    });
  });
});

describe('the words of a command', () => {
  const of = (command: string[], more: object = {}) => {
    const given = { name: 'x', command, testFiles: ['*'], results: { format: 'tap', stdout: true }, ...more };
    return runsOf(parseRunners([given])[0], 'sub', ['sub/a b.t', 'sub/-c.t']).map(({ argv }) => argv);
  };

  it('stand for one file or for all', () => {
    expect(of(['run', '{files}'])).toEqual([['run', 'a b.t', './-c.t']]);
    expect(of(['run', '--only={files}'])).toEqual([['run', '--only=a b.t', '--only=./-c.t']]);
    expect(of(['run', '--only={files}'], { selectTests: { joinedBy: ',' } })).toEqual([['run', '--only=a b.t,./-c.t']]);
    expect(of(['run', '{file}'])).toEqual([
      ['run', 'a b.t'],
      ['run', './-c.t'],
    ]);
    expect(of(['run'])).toEqual([['run']]);
  });
});
