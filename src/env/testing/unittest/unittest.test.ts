import { afterAll, describe, expect, it } from 'vitest';
import { TemporaryFolders, writeFiles, type Files } from '../../fixtureRepository.testing.js';
import { pythonsHere, runCommand, summary } from '../commandRun.testing.js';
import { parseUnittestResults, Unittest } from './unittest.js';

const temporary = new TemporaryFolders();
afterAll(() => temporary.remove());

const lines = (...text: string[]) => `${text.join('\n')}\n`;

const fixture: Files = {
  'pkg/__init__.py': '',
  'pkg/clamp.py': lines('def clamp(x, low, high):', '    return min(high, max(low, x))'),
  'tests/test_kinds.py': lines(
    'import sys, unittest',
    'from pkg.clamp import clamp',
    '',
    'class TestKinds(unittest.TestCase):',
    '    def test_pass(self): self.assertEqual(clamp(9, 0, 5), 5)',
    "    def test_fail(self): self.assertEqual(clamp(9, 0, 5), 6, 'why')",
    "    def test_error(self): clamp('a', 0, 5)",
    "    @unittest.skip('later')",
    '    def test_skip(self): pass',
    '    @unittest.expectedFailure',
    '    def test_known(self): self.fail()',
    '    @unittest.expectedFailure',
    '    def test_mended(self): pass',
    '    def test_parts(self):',
    '        for i in range(4):',
    "            with self.subTest('part', i=i): self.assertEqual(i % 2, 0)",
    '    def test_whole(self):',
    '        with self.subTest(i=1): pass',
    '    def test_part_skipped(self):',
    "        with self.subTest(i=1): self.skipTest('no')",
    '    def test_exit(self): sys.exit(0)',
    "    def test_ünïcode_日本(self): self.assertIn('ï', 'naïve')",
    '    def test_loud(self):',
    '        print(\'test_fail (TestKinds) ... ok\\n{"end": true}\')',
    "        print('x' * 10_000_000)",
    '',
    'class NoDatabase(unittest.TestCase):',
    '    @classmethod',
    "    def setUpClass(cls): raise ValueError('no database')",
    '    def test_one(self): pass',
    '    def test_two(self): pass',
    '',
    'class Elsewhere(unittest.TestCase):',
    '    @classmethod',
    "    def setUpClass(cls): raise unittest.SkipTest('not here')",
    '    def test_one(self): pass',
    '',
    'class Untidy(unittest.TestCase):',
    '    @classmethod',
    "    def tearDownClass(cls): raise ValueError('left over')",
    '    def test_one(self): pass',
    '',
    'class Later(unittest.IsolatedAsyncioTestCase):',
    '    async def asyncSetUp(self): self.x = 1',
    '    async def test_pass(self): self.assertEqual(self.x, 1)',
    '    async def test_fail(self): self.assertEqual(self.x, 2)',
  ),
  'tests/test_mocks.py': lines(
    'import unittest',
    'from unittest import mock',
    'class Mocks(unittest.TestCase):',
    '    def setUp(self):',
    "        patcher = mock.patch('builtins.sorted', return_value=3)",
    '        patcher.start()',
    '        self.addCleanup(patcher.stop)',
    '        self.maxDiff = None',
    '    def test_x(self): self.assertEqual(sorted([]), 3)',
    "    @mock.patch('pkg.clamp.clamp')",
    '    def test_y(self, clamp): clamp.assert_not_called()',
  ),
  'tests/test_gathered.py': lines(
    'import unittest',
    'def make():',
    '    class Made(unittest.TestCase):',
    '        def test_x(self): pass',
    '    return Made',
    'class Outer:',
    '    class Inner(unittest.TestCase):',
    '        def test_x(self): pass',
    'def load_tests(loader, tests, pattern):',
    '    for case in (make(), Outer.Inner, Outer.Inner):',
    '        tests.addTests(loader.loadTestsFromTestCase(case))',
    '    return tests',
  ),
  'tests/test_gathered_badly.py': lines('import unittest', 'def load_tests(*rest): raise KeyError(1)'),
  'tests/test_missing.py': lines('import unittest, nothing_here'),
  'tests/test_syntax.py': lines('import unittest', 'def test_x(:'),
  'tests/test_leaves.py': lines('import sys, unittest', 'sys.exit(0)'),
  'tests/test_elsewhere.py': lines('import unittest', "raise unittest.SkipTest('not here')"),
  'tests/test_module.py': lines(
    'import unittest',
    "def setUpModule(): raise OSError('no network')",
    'class T(unittest.TestCase):',
    '    def test_x(self): pass',
  ),
  // A package with the name of one of Python's own, and two files of the same name.
  'test/__init__.py': '',
  'test/helper.py': 'answer = 42\n',
  'test/test_same.py': lines(
    'import unittest',
    'from test.helper import answer',
    'class T(unittest.TestCase):',
    '    def test_x(self): self.assertEqual(answer, 42)',
  ),
  'more/test_same.py': lines('import unittest', 'class T(unittest.TestCase):', '    def test_x(self): self.fail()'),
};

const expected = [
  'failed more/test_same.py > T > test_x\n  AssertionError: None\n  at more/test_same.py:3',
  'passed test/test_same.py > T > test_x',
  'skipped tests/test_elsewhere.py',
  'passed tests/test_gathered.py > make > Made > test_x',
  'passed tests/test_gathered.py > Outer > Inner > test_x',
  'passed tests/test_gathered.py > Outer > Inner > test_x #2',
  'failed tests/test_gathered_badly.py\n  KeyError: 1\n  at tests/test_gathered_badly.py:2',
  'skipped tests/test_kinds.py > Elsewhere > test_one',
  'failed tests/test_kinds.py > Later > test_fail\n  AssertionError: 1 != 2\n  at tests/test_kinds.py:46',
  'passed tests/test_kinds.py > Later > test_pass',
  'failed tests/test_kinds.py > NoDatabase > test_one\n  ValueError: no database\n  at tests/test_kinds.py:29',
  'failed tests/test_kinds.py > NoDatabase > test_two\n  ValueError: no database\n  at tests/test_kinds.py:29',
  "failed tests/test_kinds.py > TestKinds > test_error\n  TypeError: '>' not supported between instances of 'str' and 'int'\n  at pkg/clamp.py:2\n  at tests/test_kinds.py:7",
  'failed tests/test_kinds.py > TestKinds > test_exit\n  SystemExit: 0\n  at tests/test_kinds.py:21',
  'failed tests/test_kinds.py > TestKinds > test_fail\n  AssertionError: 5 != 6 : why\n  at tests/test_kinds.py:6',
  'skipped tests/test_kinds.py > TestKinds > test_known',
  'passed tests/test_kinds.py > TestKinds > test_loud',
  'failed tests/test_kinds.py > TestKinds > test_mended\n  Unexpected success: the test is marked as an expected failure.',
  'skipped tests/test_kinds.py > TestKinds > test_part_skipped',
  'failed tests/test_kinds.py > TestKinds > test_parts\n  In the subtest [part] (i=1)\n  AssertionError: 1 != 0\n  at tests/test_kinds.py:16',
  'passed tests/test_kinds.py > TestKinds > test_pass',
  'skipped tests/test_kinds.py > TestKinds > test_skip',
  'passed tests/test_kinds.py > TestKinds > test_whole',
  'passed tests/test_kinds.py > TestKinds > test_ünïcode_日本',
  'passed tests/test_kinds.py > Untidy > test_one',
  'failed tests/test_leaves.py\n  RuntimeError: SystemExit at import',
  "failed tests/test_missing.py\n  ModuleNotFoundError: No module named 'nothing_here'\n  at tests/test_missing.py:1",
  'passed tests/test_mocks.py > Mocks > test_x',
  'passed tests/test_mocks.py > Mocks > test_y',
  'failed tests/test_module.py > T > test_x\n  OSError: no network\n  at tests/test_module.py:2',
  'failed tests/test_syntax.py\n  SyntaxError: invalid syntax\n  File "tests/test_syntax.py", line 2\n      def test_x(:',
  'failed tests/test_kinds.py > Untidy > tearDownClass\n  ValueError: left over\n  at tests/test_kinds.py:40',
];

const pythons = await pythonsHere();

describe.skipIf(pythons.length === 0)('unittest', () => {
  it.each(pythons)('tells what became of every test with %s', { timeout: 60_000 }, async (python) => {
    const run = await runCommand(temporary, fixture, (tree) => new Unittest(python).detect(tree));
    expect(summary(run)).toEqual(expected);
  });

  const small = (inTest: string, inSource = '') => ({
    'source.py': `import os, signal, sys, unittest\n${inSource}\n`,
    'test_a.py': lines(
      'import os, unittest, source',
      'class T(unittest.TestCase):',
      '    def test_a(self): self.assertTrue(True)',
      `    def test_b(self): ${inTest}`,
    ),
  });
  const run = (files: Files) => runCommand(temporary, files, (tree) => new Unittest(pythons[0]).detect(tree));

  it('gives the same results in the other order of the definitions', { timeout: 60_000 }, async () => {
    const [head, ...methods] = small('self.fail()')['test_a.py'].trimEnd().split('\n    ');
    const turned = { 'source.py': '', 'test_a.py': `${[head, ...methods.reverse()].join('\n    ')}\n` };
    const ids = async (files: Files) => (await run(files)).results?.map(({ id, status }) => `${status} ${id}`);
    expect(await ids(turned)).toEqual(await ids(small('self.fail()')));
  });

  it.each([
    ['a crash', small('os.abort()')],
    ['an end in the midst', small('os._exit(0)')],
    ['an end while a file is loaded', small('pass', 'os._exit(0)')],
    [
      'an end in a hook',
      { 'test_a.py': `${small('pass')['test_a.py']}def setUpModule(): raise SystemExit(0)\n`, 'source.py': '' },
    ],
    ['a kill', small('pass', 'os.kill(os.getpid(), signal.SIGKILL)')],
  ])('has no results after %s', { timeout: 60_000 }, async (_, files) => {
    expect((await run(files)).results).toBeNull();
  });
});

describe('finding unittest', () => {
  const detect = async (files: Files) => {
    const tree = await temporary.folder();
    await writeFiles(tree, files);
    const detected = await new Unittest('/usr/bin/python3').detect(tree);
    return detected.map(({ root, testFiles }) => ({ root, testFiles }));
  };
  const test = 'import unittest\n';

  it('takes files with test cases by their names', async () => {
    const files = {
      'tests/test_a.py': test,
      'b_test.py': test,
      'tests/helper.py': test,
      'test_plain.py': 'def test_x(): pass\n',
    };
    expect(await detect(files)).toEqual([{ root: '.', testFiles: ['b_test.py', 'tests/test_a.py'] }]);
    expect(await detect({ 'a.py': test })).toEqual([]);
  });

  it('starts the tests of a package in its folder', async () => {
    const files = { 'test_a.py': test, 'packages/b/pyproject.toml': '', 'packages/b/test_b.py': test };
    expect(await detect(files)).toEqual([
      { root: '.', testFiles: ['test_a.py'] },
      { root: 'packages/b', testFiles: ['packages/b/test_b.py'] },
    ]);
  });

  it.each<[string, string]>([
    ['conftest.py', ''],
    ['pyproject.toml', '[tool.pytest.ini_options]\n'],
    ['requirements-dev.txt', 'pytest>=7\n'],
    ['.github/workflows/ci.yml', 'run: python -m pytest\n'],
    ['tests/test_b.py', 'import pytest\n'],
  ])('leaves a repository to pytest that uses it, as %s tells', async (name, text) => {
    expect(await detect({ 'tests/test_a.py': test, [name]: text })).toEqual([]);
  });

  it('tests the sources of the tree in a src layout', async () => {
    const tree = await temporary.folder();
    await writeFiles(tree, { 'src/a/__init__.py': '', 'test_a.py': test });
    const [detected] = await new Unittest('/usr/bin/python3').detect(tree);
    expect(detected.runner.command(detected, [], '/results').argv.slice(3)).toEqual([
      '/results/unittest.jsonl',
      'src',
      'test_a.py',
    ]);
  });

  it('knows which files the policy may not change', () => {
    const is = (name: string) => new Unittest('python3').isTestFile(name);
    const names = [
      'tests/x.py',
      'a/test_b.py',
      'setup.cfg',
      'pyproject.toml',
      'sitecustomize.py',
      'x.egg-info/PKG-INFO',
    ];
    expect(names.filter(is)).toEqual(names);
    expect(['src/a.py', 'contest.py', 'latest_b.py'].filter(is)).toEqual([]);
  });
});

describe("the launcher's lines", () => {
  const result = JSON.stringify({ file: 'test_a.py', path: ['T', 'test_x'], status: 'passed', text: '' });

  it('give ids from the root of the tree', () => {
    expect(parseUnittestResults(`${result}\n{"end": true}\n`, 'packages/a', '/tree')?.[0].id).toBe(
      'packages/a/test_a.py > T > test_x',
    );
  });

  it('are incomplete without the last, and where one is not theirs', () => {
    expect(parseUnittestResults(`${result}\n`, '.', '/tree')).toBeNull();
    expect(parseUnittestResults('', '.', '/tree')).toBeNull();
    expect(parseUnittestResults('{}\n{"end": true}\n', '.', '/tree')).toBeNull();
    expect(parseUnittestResults('{"end": true}\n', '.', '/tree')).toEqual([]);
  });
});
