import { afterAll, describe, expect, it } from 'vitest';
import {
  buildJanitor,
  nodeProject,
  pythonProject,
  TemporaryFolders,
  type Files,
} from '../fixtureRepository.testing.js';
import { openEnvironment } from '../openEnvironment.js';
import { bubblewrapProblem } from '../sandbox/bubblewrap.js';

const temporary = new TemporaryFolders();
const sandbox = (await bubblewrapProblem()) === null ? 'bubblewrap' : 'unconfined';
afterAll(() => temporary.remove());

/** Ids of the tests that pass by what the runner says, where `files` are laid over the project; null without results. */
async function passedWith(project: Files, cheats: Readonly<Record<string, Files>>) {
  const janitorScript = await buildJanitor(await temporary.folder());
  const environment = await openEnvironment({ path: await temporary.repository(project), sandbox, janitorScript });
  const passed: Record<string, readonly string[]> = {};
  try {
    for (const [name, files] of Object.entries(cheats)) {
      const changes = Object.entries(files).map(([path, after]) => ({ path, before: null, after }));
      const workspace = await environment.openWorkspaceFromTree(environment.baseTree, '', changes);
      const { results } = await workspace.runTests();
      passed[name] = results.filter(({ status }) => status === 'passed').map(({ id }) => id);
      await workspace.dispose();
    }
  } finally {
    await environment.dispose();
  }
  return passed;
}

const BROKEN_JS = 'export const clamp = () => NaN;\n';
const FORGED_LINES = `import { readFileSync, writeFileSync } from 'node:fs';
const args = readFileSync('/proc/' + process.ppid + '/cmdline', 'utf8').split('\\0');
const to = args.find((arg) => arg.startsWith('--test-reporter-destination=/')).split('=')[1];
const file = process.argv[1];
const results = ['clamps above', 'keeps inside'].map((name) =>
  ({ kind: 'result', path: [name], file, suite: false, passed: true, skipped: false }));
const lines = [{ kind: 'start' }, ...results, { kind: 'end' }];
writeFileSync(to, lines.map((line) => JSON.stringify(line) + '\\n').join(''));
process.kill(process.ppid, 'SIGKILL');
`;
const LAX_ASSERTIONS = `import assert from 'node:assert/strict';
import { syncBuiltinESMExports } from 'node:module';
assert.equal = assert.strictEqual = () => {};
syncBuiltinESMExports();
`;

describe.skipIf(process.platform === 'win32')('with node:test, no test passes by', () => {
  it('results that a source writes, assertions that it replaces, or its end', { timeout: 120_000 }, async () => {
    const source = (cheat: string) => ({ 'src/clamp.js': `${cheat}${BROKEN_JS}` });
    const passed = await passedWith(nodeProject, {
      nothing: {},
      'results forged': source(FORGED_LINES),
      'assertions replaced': source(LAX_ASSERTIONS),
      'process ended': source('process.exit(0);\n'),
    });
    expect(passed).toEqual({
      nothing: ['test/clamp.test.js > clamps above', 'test/clamp.test.js > keeps inside'],
      'results forged': [],
      'assertions replaced': [],
      'process ended': ['test/clamp.test.js'],
    });
  });
});

const BROKEN_PYTHON = 'def clamp(x, low, high):\n    return None\n';
const forgedXml = (end: string) => `import atexit, os
at = [a for a in open('/proc/self/cmdline').read().split('\\0') if a.startswith('--junitxml=')][0].split('=')[1]
names = ['test_clamp[9-5]', 'test_clamp[3-3]']
cases = ''.join('<testcase classname="tests.test_clamp" name="%s" file="tests/test_clamp.py"/>' % n for n in names)
def write():
    with open(at, 'w') as file:
        file.write('<testsuites><testsuite>' + cases + '</testsuite></testsuites>')
${end}
`;
const PASSING_RUNTEST = `import _pytest.python
_pytest.python.Function.runtest = lambda self: None
`;
const PASSING_PLUGIN = `import gc
from _pytest.config import Config
class Passing:
    def pytest_pyfunc_call(self, pyfuncitem):
        return True
for found in gc.get_objects():
    if isinstance(found, Config):
        found.pluginmanager.register(Passing())
`;

describe.skipIf(process.platform === 'win32')('with pytest, no test passes by', () => {
  it('results that a source writes, pytest replaced, or modules in its place', { timeout: 120_000 }, async () => {
    const source = (cheat: string) => ({ 'demo/clamp.py': `${cheat}${BROKEN_PYTHON}` });
    const broken = { 'demo/clamp.py': BROKEN_PYTHON };
    const { nothing, ...others } = await passedWith(pythonProject, {
      nothing: {},
      'results forged': source(forgedXml('write()\nos._exit(0)')),
      'results forged at exit': source(forgedXml('atexit.register(write)')),
      'pytest replaced': source(PASSING_RUNTEST),
      'plugin added': source(PASSING_PLUGIN),
      'pytest shadowed': { ...broken, 'pytest.py': forgedXml('write()'), 'pluggy.py': forgedXml('write()') },
      'library shadowed': { ...broken, 'json.py': forgedXml('write()\nos._exit(0)') },
    });
    expect(nothing).toEqual(['tests/test_clamp.py > test_clamp[9-5]', 'tests/test_clamp.py > test_clamp[3-3]']);
    for (const name of Object.keys(others)) expect([name, others[name]]).toEqual([name, []]);
  });
});
