import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeRepository, runCli, temporaryFolder, type CliResult } from './runCli.js';

const passing = {
  'package.json': JSON.stringify({ name: 'sample', type: 'module', scripts: { test: 'node --test' } }),
  'src/sum.js': 'export function sum(a, b) {\n  return a + b;\n}\nexport const isSmall = (a) => a < 10;\n',
  'test/sum.test.js':
    "import test from 'node:test';\nimport assert from 'node:assert';\nimport { sum, isSmall } from '../src/sum.js';\n" +
    "test('adds', () => assert.equal(sum(1, 2), 3));\ntest('is small', () => assert.equal(isSmall(9), true));\ntest('is not small', () => assert.equal(isSmall(10), false));\n",
};

/** Bad input gets exit code 2 and one line on standard error that says what and how to mend it. */
function expectOneLine(result: CliResult, what: RegExp): void {
  expect(result.stderr.trim().split('\n').at(-1)).toMatch(what);
  expect(result.stderr).not.toMatch(/\n\s+at /);
  expect(result.code).toBe(2);
  expect(result.stdout).toBe('');
}

describe('bad input ends with exit code 2 and one clear line', () => {
  it('where the folder does not exist', async () => {
    expectOneLine(await runCli(['tasks', 'build', '--repo', path.join(temporaryFolder(), 'nowhere')]), /nowhere/);
  });

  it('where the folder is no repository', async () => {
    expectOneLine(
      await runCli(['tasks', 'build', '--repo', temporaryFolder()]),
      /not (in )?a git repository|no git repository/i,
    );
  });

  it('where there is no commit', async () => {
    const folder = temporaryFolder();
    execFileSync('git', ['init', '--quiet'], { cwd: folder });
    expectOneLine(await runCli(['train', '--repo', folder]), /no commit/);
  });

  it('where there are no tests', async () => {
    const folder = await makeRepository({ 'package.json': '{}', 'index.js': 'export const a = 1;\n' });
    expectOneLine(await runCli(['tasks', 'build', '--repo', folder]), /no tests/i);
  });

  it('where the runner is not installed', async () => {
    const folder = await makeRepository({
      'pyproject.toml': '[tool.pytest.ini_options]\n',
      'a.py': 'def a():\n    return 1\n',
      'test_a.py': 'from a import a\n\ndef test_a():\n    assert a() == 1\n',
    });
    // A python3 that knows no pytest.
    const bin = temporaryFolder();
    const stub = path.join(bin, 'python3');
    writeFileSync(stub, '#!/bin/sh\necho "No module named pytest" >&2\nexit 1\n', { mode: 0o755 });
    expectOneLine(
      await runCli(['tasks', 'build', '--repo', folder], {
        env: { PATH: `${bin}:/usr/bin:/bin:${path.dirname(process.execPath)}` },
      }),
      /pytest/,
    );
  });

  it('where all tests fail at the baseline', async () => {
    const folder = await makeRepository({
      ...passing,
      'src/sum.js': 'export function sum() {\n  throw new Error("broken");\n}\nexport const isSmall = sum;\n',
    });
    expectOneLine(await runCli(['tasks', 'build', '--repo', folder]), /fail/);
  });

  it('where no task survives', async () => {
    const folder = await makeRepository({
      ...passing,
      'src/sum.js':
        'export const sum = (a, b) => Number(`${a + b}`);\nexport const isSmall = (a) => [true, false][Number(`${a}`.length) - 1];\n',
      'test/sum.test.js': "import test from 'node:test';\nimport '../src/sum.js';\ntest('loads', () => {});\n",
    });
    expectOneLine(await runCli(['tasks', 'build', '--repo', folder]), /no task/i);
  });

  it('where the model is missing, truncated or no model', async () => {
    const folder = await makeRepository(passing);
    const model = temporaryFolder();
    expectOneLine(await runCli(['train', '--repo', folder, '--model', path.join(model, 'none')]), /none/);
    expectOneLine(await runCli(['train', '--repo', folder, '--model', model]), /config\.json/);
    writeFileSync(path.join(model, 'config.json'), '{"model_type": "gpt2"}');
    expectOneLine(await runCli(['train', '--repo', folder, '--model', model]), /gpt2/);
  });

  it('where an option, a command or a settings file is wrong', async () => {
    const folder = await makeRepository({ ...passing, 'whetstone.config.json': '{"learningrate": 1}' });
    const usage: [string[], RegExp][] = [
      [['train', '--steps', 'many'], /'--steps <n>' argument 'many' .* See `whetstone train --help`\.$/],
      [['train', '--stepz', '3'], /unknown option '--stepz' \(Did you mean --steps\?\)\. See `whetstone train --help`/],
      [['runs', 'show'], /missing required argument 'run'\. See `whetstone runs show --help`/],
      [['sharpen\u001b[31m'], /^whetstone: unknown command 'sharpen\ufffd\[31m'\. See `whetstone --help`\.$/],
      [['grade'], /--task <id>/],
      [['tasks', 'build', '--runs', '0'], /It must be at least 1\. See `whetstone tasks build --help`/],
      [['tasks', 'list', '--repo', ''], /'--repo <path>' argument '' is invalid\. It is empty\./],
      [['quickstart', '--at', path.join(folder, 'package.json', 'inside')], /cannot be made \(ENOTDIR\)/],
    ];
    for (const [args, line] of usage) {
      const result = await runCli(args);
      expectOneLine(result, line);
      expect(result.stderr.trim()).not.toContain('\n');
    }
    expectOneLine(await runCli(['train', '--repo', folder]), /learningrate/);
  });

  it('where a run, a task or a patch is not there', async () => {
    const folder = await makeRepository(passing);
    const patch = path.join(temporaryFolder(), 'empty.patch');
    writeFileSync(patch, '');
    expectOneLine(await runCli(['runs', 'show', 'none', '--repo', folder]), /none/);
    expectOneLine(await runCli(['mask', '../..', 'x', '--repo', folder]), /No run/);
    expectOneLine(
      await runCli(['grade', '--repo', folder, '--task', 'none', '--patch', patch]),
      /tasks build|tasks list/,
    );
    expectOneLine(
      await runCli(['similarity', '--pred', patch, '--oracle', path.join(folder, 'missing.patch')]),
      /missing\.patch/,
    );
  });
});
