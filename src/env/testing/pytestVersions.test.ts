import { execFile } from 'node:child_process';
import { readdir, symlink } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { installedRunner } from '../../../test/runners/install.js';
import { TemporaryFolders, writeFiles, type Files } from '../fixtureRepository.testing.js';
import { runCommand, runIn, summary } from './commandRun.testing.js';
import { Pytest } from './pytest.js';

const run = promisify(execFile);
const temporary = new TemporaryFolders();
afterAll(() => temporary.remove());

const lines = (...text: string[]) => `${text.join('\n')}\n`;

const fixture: Files = {
  'demo/__init__.py': '',
  'demo/clamp.py': lines('def clamp(x, low, high):', '    return min(high, max(low, x))'),
  'tests/test_kinds.py': lines(
    'import sys, unittest, pytest',
    'from demo.clamp import clamp',
    'def test_pass(): assert clamp(9, 0, 5) == 5',
    'def test_fail(): assert clamp(9, 0, 5) == 6',
    "def test_error(): clamp('a', 0, 5)",
    '@pytest.mark.skip',
    'def test_skip(): pass',
    '@pytest.mark.xfail',
    'def test_known(): assert False',
    '@pytest.mark.xfail(strict=True)',
    'def test_mended(): pass',
    "@pytest.mark.parametrize('x', [1, 'a.b', 'ünï', '日本 > x'])",
    'def test_each(x): assert x != 1',
    'class TestIn:',
    '    class TestDeep:',
    '        def test_x(self): pass',
    'class TestCase(unittest.TestCase):',
    '    def test_a(self): self.assertEqual(1, 2)',
    '    @unittest.expectedFailure',
    '    def test_b(self): self.fail()',
    '@pytest.fixture',
    "def broken(): raise ValueError('fixture')",
    'def test_broken(broken): pass',
    'def test_exit(): sys.exit(0)',
    'def test_loud():',
    "    print('test_fail PASSED')",
    "    print('</testcase></testsuite></testsuites>')",
    "    print('x' * 10_000_000)",
    "@pytest.mark.parametrize('x', [1, 1])",
    'def test_twice(x): pass',
  ),
  'tests/test_missing.py': lines('import nothing_here'),
  'tests/test_syntax.py': lines('def test_x(:'),
  'tests/test_leaves.py': lines('import pytest', "pytest.skip('not here', allow_module_level=True)"),
};

/** pytest 8 began to put an underscore between a repeated parameter and its number. */
const expected = (between: string) => [
  'skipped tests/test_leaves.py',
  "failed tests/test_missing.py\n  ModuleNotFoundError: No module named 'nothing_here'\n  at tests/test_missing.py:1",
  'failed tests/test_syntax.py\n  SyntaxError: invalid syntax\n  File "tests/test_syntax.py", line 1\n      def test_x(:',
  'passed tests/test_kinds.py > test_pass',
  'failed tests/test_kinds.py > test_fail\n  assert 5 == 6\n   +  where 5 = clamp(9, 0, 5)\n  at tests/test_kinds.py:4',
  "failed tests/test_kinds.py > test_error\n  TypeError: '>' not supported between instances of 'str' and 'int'\n  at demo/clamp.py:2\n  at tests/test_kinds.py:5",
  'skipped tests/test_kinds.py > test_skip',
  'skipped tests/test_kinds.py > test_known',
  'failed tests/test_kinds.py > test_mended\n  [XPASS(strict)]',
  'failed tests/test_kinds.py > test_each[1]\n  assert 1 != 1\n  at tests/test_kinds.py:13',
  'passed tests/test_kinds.py > test_each[a.b]',
  'passed tests/test_kinds.py > test_each[\\xfcn\\xef]',
  'passed tests/test_kinds.py > test_each[\\u65e5\\u672c > x]',
  'passed tests/test_kinds.py > TestIn > TestDeep > test_x',
  'failed tests/test_kinds.py > TestCase > test_a\n  AssertionError: 1 != 2\n  at tests/test_kinds.py:18',
  'skipped tests/test_kinds.py > TestCase > test_b',
  'failed tests/test_kinds.py > test_broken\n  ValueError: fixture\n  at tests/test_kinds.py:22',
  'failed tests/test_kinds.py > test_exit\n  SystemExit: 0\n  at tests/test_kinds.py:24',
  'passed tests/test_kinds.py > test_loud',
  `passed tests/test_kinds.py > test_twice[1${between}0]`,
  `passed tests/test_kinds.py > test_twice[1${between}1]`,
];

describe.each([
  ['pytest-9', '_'],
  ['pytest-7', ''],
])('%s', (name, between) => {
  const python = async () => path.join(await installedRunner(name), 'venv', 'bin', 'python');

  it('tells what became of every test', { timeout: 300_000 }, async () => {
    const program = await python();
    const run = await runCommand(temporary, fixture, (tree) => new Pytest(program).detect(tree));
    expect(summary(run)).toEqual(expected(between));
  });

  it(
    'takes what is installed in a virtual environment of the tree for no code of the tree',
    { timeout: 300_000 },
    async () => {
      const tree = await temporary.folder('with .venv');
      await writeFiles(tree, {
        'clock.py': 'def now(): return 0\n',
        'test_clock.py': lines(
          'import sys, frozen',
          'from clock import now',
          'def test_frozen():',
          '    frozen.freeze(sys.modules[__name__])',
          '    assert now() == 1',
          'def test_after(): assert now() == 1',
        ),
      });
      const environment = path.join(tree, '.venv');
      const program = path.join(environment, 'bin', 'python');
      await run(await python(), ['-m', 'venv', '--without-pip', '--clear', environment]);
      const packagesOf = async (asked: string) =>
        (await run(asked, ['-c', "import sysconfig; print(sysconfig.get_path('purelib'))"])).stdout.trim();
      const [installed, own] = [await packagesOf(await python()), await packagesOf(program)];
      for (const entry of await readdir(installed)) {
        await symlink(path.join(installed, entry), path.join(own, entry)).catch(() => undefined);
      }
      // As tools that stop the clock do.
      await writeFiles(own, { 'frozen.py': 'def one(): return 1\ndef freeze(module): module.now = one\n' });
      const [detected] = await new Pytest(program).detect(tree);
      const found = await runIn(temporary, tree, { ...detected, testFiles: ['test_clock.py'] });
      expect(summary(found)).toEqual(['passed test_clock.py > test_frozen', 'passed test_clock.py > test_after']);
    },
  );

  const small = (inTest: string, inSource = '') => ({
    'source.py': `import os, signal, sys\n${inSource}\n`,
    'test_a.py': lines('import os, signal, source', 'def test_a(): pass', `def test_b(): ${inTest}`),
  });
  it.each([
    ['a crash', small('os.abort()')],
    ['an end in the midst', small('os._exit(0)')],
    ['an end while a file is loaded', small('pass', 'os._exit(0)')],
    [
      'an end in a hook',
      { ...small('pass'), 'conftest.py': 'def pytest_sessionfinish(): __import__("os")._exit(0)\n' },
    ],
    ['a kill', small('os.kill(os.getpid(), signal.SIGKILL)')],
  ])('has no results after %s', { timeout: 300_000 }, async (_, files) => {
    const program = await python();
    const { results } = await runCommand(temporary, files, (tree) => new Pytest(program).detect(tree));
    expect(results).toBeNull();
  });
});
