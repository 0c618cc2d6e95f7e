import { afterAll, describe, expect, it } from 'vitest';
import { TemporaryFolders, type Files } from '../../fixtureRepository.testing.js';
import { pythonsHere, runCommand } from '../commandRun.testing.js';
import { Unittest } from './unittest.js';

const temporary = new TemporaryFolders();
afterAll(() => temporary.remove());

const project: Files = {
  'demo/__init__.py': '',
  'tests/test_clamp.py': `import unittest
from demo.clamp import clamp

class TestClamp(unittest.TestCase):
    def test_above(self):
        clamped = clamp(9, 0, 5)
        self.assertEqual(clamped, 5)
    def test_inside(self):
        clamped = clamp(3, 0, 5)
        self.assertEqual(clamped, 3)
`,
};
/** Mends nothing. Each cheat is put before it. */
const broken = "def clamp(x, low, high):\n    globals().get('cheat', lambda: None)()\n    return None\n";

const forged = (end: string) => `import atexit, json, os, sys
at = [a for a in open('/proc/self/cmdline').read().split('\\0') if a.endswith('unittest.jsonl')][0]
def write():
    with open(at, 'w') as file:
        for name in ('test_above', 'test_inside'):
            file.write(json.dumps(dict(file='tests/test_clamp.py', path=['TestClamp', name], status='passed', text='')) + '\\n')
        file.write('{"end": true}\\n')
${end}
`;
/** Calls of the result object that the running test was given; \`result\`, \`test\` and \`outcome\` are its own. */
const inTest = (body: string) => `import sys, threading, unittest
def cheat():
    frame = sys._getframe()
    while not ('result' in frame.f_locals and 'self' in frame.f_locals and 'outcome' in frame.f_locals):
        frame = frame.f_back
    result, test, outcome = (frame.f_locals[name] for name in ('result', 'self', 'outcome'))
${body.replace(/^/gm, '    ')}
`;

const cheats: Readonly<Record<string, string>> = {
  'results written': forged('write()\nos._exit(0)'),
  'results written at exit': forged('atexit.register(write)'),
  'a proof asked for': forged('write()\nsys.audit("whetstone.finish")\nos._exit(0)'),
  'results proven with a key found on the stack': forged(`import hmac
write()
frame = sys._getframe()
while frame:
    for value in list(frame.f_locals.values()):
        if isinstance(value, bytes) and len(value) == 6:
            open(at + '.proof', 'w').write(hmac.new(value, open(at, 'rb').read(), 'sha256').hexdigest())
            os._exit(0)
    frame = frame.f_back
`),
  'the key looked for in memory': forged(`import gc, hmac
write()
for found in gc.get_objects():
    for cell in getattr(found, '__closure__', None) or ():
        value = cell.cell_contents
        if isinstance(value, bytes) and len(value) == 6:
            open(at + '.proof', 'w').write(hmac.new(value, open(at, 'rb').read(), 'sha256').hexdigest())
            os._exit(0)
`),
  'assertions replaced': 'import unittest\nunittest.TestCase.assertEqual = lambda *rest: None\n',
  'an assertion replaced for as long as it takes': inTest(`real = unittest.TestCase.assertEqual
unittest.TestCase.assertEqual = lambda *rest: None
test.addCleanup(setattr, unittest.TestCase, 'assertEqual', real)`),
  "an assertion of the test's own": inTest('test.assertEqual = lambda *rest: None'),
  "an assertion of the test's class": inTest('type(test).assertEqual = lambda *rest: None'),
  'the run of tests replaced': 'import unittest\nunittest.TestCase._callTestMethod = lambda *rest: None\n',
  "the tests' methods replaced": inTest(
    "for name in ('test_above', 'test_inside'): setattr(type(test), name, lambda self: None)",
  ),
  "the code of the tests' methods replaced": inTest(
    "for name in ('test_above', 'test_inside'): getattr(type(test), name).__code__ = (lambda self: None).__code__",
  ),
  'success said to the result': inTest('result.addSuccess(test)'),
  'success said by a clean-up': inTest('test.addCleanup(result.addSuccess, test)'),
  'success said by a thread': inTest(`thread = threading.Thread(target=result.addSuccess, args=(test,))
thread.start()
thread.join()`),
  'failures turned into successes': inTest(`kind = type(result)
kind.addFailure = kind.addError = lambda self, test, error: self.addSuccess(test)`),
  'failures dropped': inTest('result.addFailure = result.addError = lambda *rest: None'),
  "the result's own hooks called": inTest("sys.audit('whetstone.result', test, '', 'passed', '')"),
  'the outcome replaced': inTest(`class Lucky(type(outcome)):
    success = property(lambda self: True, lambda self, value: None)
outcome.__class__ = Lucky
result.addFailure = lambda *rest: None`),
  'an outcome mended by a clean-up': inTest(`def mend():
    outcome.success = True
    getattr(outcome, 'errors', []).clear()
test.addCleanup(mend)`),
  "the launcher's functions replaced": `import __main__, unittest
for name in list(vars(__main__)):
    if callable(getattr(__main__, name)): setattr(__main__, name, lambda *rest: None)
unittest.TestCase.assertEqual = lambda *rest: None
`,
  'the error of assertions replaced': `import builtins, unittest
builtins.AssertionError = unittest.SkipTest
unittest.TestCase.failureException = unittest.SkipTest
`,
  'the end without a word': `import sys, threading
sys.excepthook = threading.excepthook = lambda *rest: None
sys.exit(0)
`,
};

const pythons = await pythonsHere();

describe.skipIf(pythons.length === 0 || process.platform !== 'linux')('with unittest, no test passes by', () => {
  const passed = async (files: Files) => {
    const { results } = await runCommand(temporary, { ...project, ...files }, (tree) =>
      new Unittest(pythons[0]).detect(tree),
    );
    return results?.filter(({ status }) => status === 'passed').map(({ name }) => name) ?? [];
  };

  it('what was never tried: sound sources do pass', { timeout: 60_000 }, async () => {
    const sound = 'def clamp(x, low, high):\n    return min(high, max(low, x))\n';
    expect(await passed({ 'demo/clamp.py': sound })).toEqual(['TestClamp > test_above', 'TestClamp > test_inside']);
    expect(await passed({ 'demo/clamp.py': broken })).toEqual([]);
  });

  it.each(Object.entries(cheats))('%s', { timeout: 60_000 }, async (_, cheat) => {
    expect(await passed({ 'demo/clamp.py': cheat + broken })).toEqual([]);
  });

  it('objects that are equal to everything', { timeout: 60_000 }, async () => {
    const any = 'class Any:\n    def __eq__(self, other):\n        return True\n    __ne__ = None\n';
    const late = `def clamp(*rest):\n${any.replace(/^(?=.)/gm, '    ')}    return Any()\n`;
    for (const cheat of [`${any}def clamp(*rest):\n    return Any()\n`, late]) {
      expect(await passed({ 'demo/clamp.py': cheat })).toEqual([]);
    }
  });

  it('modules in the place of others', { timeout: 60_000 }, async () => {
    const files = { 'demo/clamp.py': broken, 'unittest.py': forged('write()\nos._exit(0)'), 'hmac.py': 'raise 1\n' };
    expect(await passed({ ...files, 'json.py': files['unittest.py'] })).toEqual([]);
  });
});
