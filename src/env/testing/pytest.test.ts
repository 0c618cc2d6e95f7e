import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { TemporaryFolders, writeFiles, type Files } from '../fixtureRepository.testing.js';
import { parseJunit, Pytest } from './pytest.js';

const temporary = new TemporaryFolders();
afterAll(() => temporary.remove());

describe("pytest's recorded results", () => {
  const context = { root: '.', testFiles: ['tests/test_a.py', 'tests/test_b.py', 'tests/test_c.py'], tree: '/tmp/py' };
  const text = readFile(path.join(import.meta.dirname, '../../../test-fixtures/runner-output/pytest9.xml'), 'utf8');

  it('give ids, statuses and messages', async () => {
    const results = parseJunit(await text, context);
    expect(results?.map(({ id, status, message }) => [status, id, message].join('\n'))).toEqual([
      "failed\ntests/test_b.py\nModuleNotFoundError: No module named 'nothing_here'\nat tests/test_b.py:1",
      'failed\ntests/test_c.py\nSyntaxError: invalid syntax\nFile "tests/test_c.py", line 1\n    def test_x(:',
      'failed\ntests/test_a.py > test_hi\nassert 6 == 5\n +  where 6 = clamp(9, 0, 5)\nat tests/test_a.py:4',
      'failed\ntests/test_a.py > test_raise\nTypeError: bad t\nat pkg/clamp.py:3\nat tests/test_a.py:6',
      'passed\ntests/test_a.py > test_p[1]\n',
      'failed\ntests/test_a.py > test_p[7]\nassert 6 == 7\n +  where 6 = clamp(7, 0, 5)\nat tests/test_a.py:9',
      "failed\ntests/test_a.py > test_p[a.b]\nTypeError: '>' not supported between instances of 'str' and 'int'\nat pkg/clamp.py:4\nat tests/test_a.py:9",
      'failed\ntests/test_a.py > TestC > test_in\nAssertionError: lists\nassert [1, 2, 3] == [1, 2, 4]\n  At index 2 diff: 3 != 4\nat tests/test_a.py:12',
      'passed\ntests/test_a.py > TestC > TestD > test_deep\n',
      'skipped\ntests/test_a.py > test_s\n',
      'skipped\ntests/test_a.py > test_x\n',
      'failed\ntests/test_a.py > test_f\nValueError: fixture\nat tests/test_a.py:20',
    ]);
  });

  it('are incomplete where they are cut off, and empty where no test was found', async () => {
    const whole = await text;
    expect(parseJunit(whole.slice(0, -20), context)).toBeNull();
    expect(parseJunit('', context)).toBeNull();
    expect(parseJunit('<testsuites><testsuite name="pytest" tests="0"></testsuite></testsuites>', context)).toEqual([]);
  });
});

describe('finding pytest', () => {
  const detect = async (files: Files) => {
    const tree = await temporary.folder();
    await writeFiles(tree, files);
    const [detected] = await new Pytest('/usr/bin/python3').detect(tree);
    return detected === undefined ? null : { root: detected.root, testFiles: detected.testFiles };
  };

  it('takes files by their names', async () => {
    expect(await detect({ 'tests/test_a.py': '', 'b_test.py': '', 'tests/helper.py': '', 'c.py': '' })).toEqual({
      root: '.',
      testFiles: ['b_test.py', 'tests/test_a.py'],
    });
    expect(await detect({ 'a.py': '' })).toBeNull();
  });

  it.each<[string, string]>([
    ['pytest.ini', '[pytest]\npython_files = check_*.py\ntestpaths = checks\n'],
    [
      'pyproject.toml',
      '[project]\nname = "x"\n[tool.pytest.ini_options]\npython_files = ["check_*.py"]\ntestpaths = [\n  "checks",\n]\n[tool.x]\n',
    ],
    ['setup.cfg', '[metadata]\nname = x\n[tool:pytest]\npython_files =\n    check_*.py\ntestpaths = checks\n'],
  ])('reads python_files and testpaths from %s', async (name, text) => {
    const files = { [name]: text, 'checks/check_a.py': '', 'checks/test_b.py': '', 'other/check_c.py': '' };
    expect((await detect(files))?.testFiles).toEqual(['checks/check_a.py']);
  });

  it('tests the package of the tree in a src layout, and takes test.py of unittest', async () => {
    const tree = await temporary.folder();
    await writeFiles(tree, { 'src/a/__init__.py': '', 'test.py': '' });
    const [detected] = await new Pytest('/usr/bin/python3').detect(tree);
    expect(detected?.runner.command(detected, [], '/results').argv.slice(3, 5)).toEqual(['/results/junit.xml', 'src']);
    expect(detected?.testFiles).toEqual(['test.py']);
  });

  it('knows which files the policy may not change', () => {
    const is = (name: string) => new Pytest('python3').isTestFile(name);
    expect(
      [
        'tests/x.py',
        'a/test_b.py',
        'conftest.py',
        'a/conftest.py',
        'pytest.ini',
        'tox.ini',
        'pyproject.toml',
        'pytest.toml',
        'x.egg-info/entry_points.txt',
        'src/x-1.dist-info/METADATA',
      ].filter(is),
    ).toHaveLength(10);
    expect(['src/a.py', 'contest.py', 'latest_b.py'].filter(is)).toEqual([]);
  });
});
