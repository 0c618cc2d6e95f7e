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

const BROKEN_JS = 'export const clamp = () => (globalThis.cheat?.(), NaN);\n';
const NAMES = "const names = ['clamps above', 'keeps inside'];\n";
/** What the results' file would hold, and what the process of a test file sends. */
const FORGED_RESULTS = `${NAMES}
const results = names.map((name) => JSON.stringify({ kind: 'result', path: [name], file: process.argv[1], suite: false,
  passed: true, skipped: false }) + '\\n').join('');
`;

/** Each is put before a source that mends nothing. The tests' own file imports that source before anything else runs in it. */
const NODE_CHEATS: Readonly<Record<string, string>> = {
  'results written into their file': `import { readFileSync, writeFileSync } from 'node:fs';
${FORGED_RESULTS}
const args = readFileSync('/proc/' + process.ppid + '/cmdline', 'utf8').split('\\0');
const to = JSON.parse(args.find((arg) => arg.startsWith('{"results"'))).results;
writeFileSync(to, '{"kind":"start"}\\n' + results + '{"kind":"end"}\\n');
process.kill(process.ppid, 'SIGKILL');
`,
  'results sent over the channel': `import { writeSync } from 'node:fs';
${FORGED_RESULTS}
for (let fd = 3; fd < 64; fd += 1) try { writeSync(fd, JSON.stringify({ lines: results, tag: '0' }) + '\\n'); } catch {}
process.reallyExit(0);
`,
  "frames of node:test's own": `import v8 from 'node:v8';
${NAMES}
for (const [index, name] of names.entries()) {
  const frame = new v8.DefaultSerializer();
  frame.writeHeader();
  frame.writeValue({ type: 'test:pass', data: { name, nesting: 0, testNumber: index + 1, details: {}, file: process.argv[1] } });
  const body = frame.releaseBuffer();
  const size = Buffer.alloc(4);
  size.writeUInt32BE(body.length);
  process.stdout.write(Buffer.concat([Buffer.from([0xff, 0x0f]), size, body]));
}
process.reallyExit(0);
`,
  'assertions replaced': `import assert from 'node:assert/strict';
import { syncBuiltinESMExports } from 'node:module';
for (const name of ['equal', 'strictEqual']) try { assert[name] = () => {}; } catch {}
syncBuiltinESMExports();
`,
  'streams replaced': `import { EventEmitter } from 'node:events';
import { Readable } from 'node:stream';
const mend = (item) => { if (item?.type === 'test:fail') item.type = 'test:pass'; };
const { emit } = EventEmitter.prototype;
EventEmitter.prototype.emit = function (type, ...data) {
  return emit.call(this, type === 'test:fail' ? 'test:pass' : type, ...data);
};
const { push } = Readable.prototype;
Readable.prototype.push = function (item) { mend(item); return push.call(this, item); };
`,
  "node:test's own stream replaced": `import { run } from 'node:test';
const stream = Object.getPrototypeOf(run({ files: [] }));
try { stream.fail = stream.ok; } catch {}
try { Object.defineProperty(stream, 'fail', { value: stream.ok }); } catch {}
`,
  'the test found as a resource': `import { createHook, executionAsyncResource } from 'node:async_hooks';
const pass = (test) => {
  if (test?.reporter === undefined) return;
  Object.defineProperty(test, 'passed', { get: () => true, set() {}, configurable: true });
  test.reporter.ok(0, { file: process.argv[1] }, 1, 'clamps above', {}, {});
};
createHook({ init: (id, type, trigger, resource) => type === 'Test' && queueMicrotask(() => pass(resource)) }).enable();
globalThis.cheat = () => pass(executionAsyncResource());
`,
  'the test found by a prototype': `import { AsyncResource } from 'node:async_hooks';
const always = { get: () => true, set() {}, configurable: true };
for (const prototype of [AsyncResource.prototype, Object.prototype]) Object.defineProperty(prototype, 'passed', always);
const { runInAsyncScope } = AsyncResource.prototype;
AsyncResource.prototype.runInAsyncScope = function (call, ...rest) {
  Object.defineProperty(this, 'fail', { value: this.pass });
  return runInAsyncScope.call(this, call, ...rest);
};
`,
  'the writing of JSON replaced': `Object.prototype.toJSON = function () { if ('passed' in this) this.passed = true; return this; };
const { stringify } = JSON;
JSON.stringify = (value) => stringify(value).replaceAll('false', 'true');
String.prototype.charCodeAt = () => 0;
`,
  'the debugger': `import { Session } from 'node:inspector';
${NAMES}
const session = new Session();
session.connect();
const call = (method, options) => {
  let answer;
  session.post(method, options, (_, result) => (answer = result));
  return answer;
};
const { result } = call('Runtime.evaluate', { expression: 'Function.prototype' });
const { objects } = call('Runtime.queryObjects', { prototypeObjectId: result.objectId });
const declared = \`function () {
  const record = this.find((item) => item.name === 'record');
  \${names.map((name) => "record('test:pass', { name: '" + name + "', nesting: 0, file: process.argv[1] });").join('')}
}\`;
call('Runtime.callFunctionOn', { objectId: objects.objectId, functionDeclaration: declared });
`,
  'tests of the same names, and an error': `import test from 'node:test';
${NAMES}
for (const name of names) test(name, () => {});
await new Promise((resolve) => setTimeout(resolve, 100));
throw new Error('the tests never come');
`,
  'tests of the same names from a text': `import * as nodeTest from 'node:test';
globalThis.nodeTest = nodeTest;
${NAMES}
for (const name of names) (0, eval)('nodeTest.test(' + JSON.stringify(name) + ', () => {})');
await new Promise((resolve) => setTimeout(resolve, 100));
throw new Error('the tests never come');
`,
};

/** The same tests as a CommonJS package, which asks for its assertions after the source; one uses the test context's. */
const commonProject: Files = {
  'package.json': JSON.stringify({ name: 'demo', scripts: { test: 'node --test' } }),
  'src/clamp.js': 'exports.clamp = (x, low, high) => Math.min(high, Math.max(low, x));\n',
  'test/clamp.test.js': [
    "const { clamp } = require('../src/clamp.js');",
    "const test = require('node:test');",
    "const assert = require('assert');",
    "test('clamps above', () => assert.equal(clamp(9, 0, 5), 5));",
    "test('keeps inside', (t) => (t.assert ?? assert).equal(clamp(3, 0, 5), 3));",
    '',
  ].join('\n'),
};
const LAX = 'const lax = Object.assign(() => {}, { equal() {}, strictEqual() {} });\n';
const COMMON_CHEATS: Readonly<Record<string, string>> = {
  'assertions loaded from elsewhere': `${LAX}const Module = require('node:module');
const { _load } = Module;
Module._load = function (name, ...rest) { return name.endsWith('assert') ? lax : _load.call(this, name, ...rest); };
const { require: load } = Module.prototype;
Module.prototype.require = function (name) { return name.endsWith('assert') ? lax : load.call(this, name); };
`,
  'assertions resolved elsewhere': `${LAX}const Module = require('node:module');
require.cache['/lax'] = Object.assign(new Module('/lax'), { exports: lax, loaded: true, filename: '/lax' });
const { _resolveFilename } = Module;
Module._resolveFilename = (name, ...rest) => name.endsWith('assert') ? '/lax' : _resolveFilename(name, ...rest);
`,
  "the test context's assertions replaced": `const { assert } = require('node:test');
try { assert?.register('equal', () => {}); } catch {}
const real = require('node:assert');
try { real.equal = () => {}; } catch {}
`,
};

describe.skipIf(process.platform === 'win32')('with node:test, no test passes by', () => {
  const names = ['test/clamp.test.js > clamps above', 'test/clamp.test.js > keeps inside'];

  it.each([
    ['modules', nodeProject, NODE_CHEATS, BROKEN_JS],
    ['CommonJS', commonProject, COMMON_CHEATS, 'exports.clamp = () => NaN;\n'],
  ])(
    'what a source of %s does in the process of the tests',
    { timeout: 300_000 },
    async (_, project, cheats, broken) => {
      const changed = Object.entries(cheats).map(
        ([name, cheat]) => [name, { 'src/clamp.js': cheat + broken }] as const,
      );
      const { nothing, ...others } = await passedWith(project, { nothing: {}, ...Object.fromEntries(changed) });
      expect(nothing).toEqual(names);
      for (const name of Object.keys(others)) {
        expect([name, others[name].filter((id) => names.includes(id))]).toEqual([name, []]);
      }
    },
  );

  it('the end of the process, which passes no more than the file', { timeout: 120_000 }, async () => {
    const source = { 'src/clamp.js': `process.exit(0);\n${BROKEN_JS}` };
    expect((await passedWith(nodeProject, { ended: source })).ended).toEqual(['test/clamp.test.js']);
  });
});

const BROKEN_PYTHON = "def clamp(x, low, high):\n    globals().get('cheat', lambda: None)()\n    return None\n";
const forgedXml = (end: string) => `import atexit, os
at = [a for a in open('/proc/self/cmdline').read().split('\\0') if a.startswith('--junitxml=')][0].split('=')[1]
names = ['test_clamp[9-5]', 'test_clamp[3-3]']
cases = ''.join('<testcase classname="tests.test_clamp" name="%s" file="tests/test_clamp.py"/>' % n for n in names)
def write():
    with open(at, 'w') as file:
        file.write('<testsuites><testsuite>' + cases + '</testsuite></testsuites>')
${end}
`;
/** Each is put before a source that mends nothing. */
const PYTHON_CHEATS: Readonly<Record<string, string>> = {
  'results forged': forgedXml('write()\nos._exit(0)'),
  'results forged at exit': forgedXml('atexit.register(write)'),
  'results proven with a key found on the stack': forgedXml(`import hmac, sys
write()
frame = sys._getframe()
while frame:
    for value in list(frame.f_locals.values()):
        proof = None
        if isinstance(value, bytes) and len(value) == 64:
            proof = hmac.new(value, open(at, 'rb').read(), 'sha256').hexdigest()
        elif isinstance(value, hmac.HMAC):
            value.update(open(at, 'rb').read())
            proof = value.hexdigest()
        if proof:
            open(at + '.proof', 'w').write(proof)
            os._exit(0)
    frame = frame.f_back
`),
  'pytest replaced': `import _pytest.python
_pytest.python.Function.runtest = lambda self: None
`,
  'a class of pytest replaced': `import _pytest.runner
from _pytest.reports import TestReport
class Passing(TestReport):
    def __init__(self, nodeid, location, keywords, outcome, longrepr, *rest, **more):
        super().__init__(nodeid, location, keywords, 'passed', None, *rest, **more)
_pytest.runner.TestReport = Passing
`,
  'a plugin added': `import sys
class Passing:
    def pytest_pyfunc_call(self, pyfuncitem):
        return True
frame = sys._getframe()
while 'session' not in frame.f_locals:
    frame = frame.f_back
frame.f_locals['session'].config.pluginmanager.register(Passing())
`,
  'hooks put into the test module': `import sys
frame = sys._getframe()
while frame and 'test_' not in frame.f_code.co_filename:
    frame = frame.f_back
if frame:
    def pytest_pyfunc_call(pyfuncitem):
        return True
    frame.f_globals['pytest_pyfunc_call'] = pytest_pyfunc_call
    frame.f_globals['pytest_plugins'] = ()
`,
  'the test items replaced': `import sys
def cheat():
    frame = sys._getframe()
    while 'item' not in frame.f_locals:
        frame = frame.f_back
    for item in frame.f_locals['item'].session.items:
        item.runtest = lambda: None
`,
  "the test's code replaced": `import sys
def cheat():
    frame = sys._getframe()
    while 'test_clamp' not in frame.f_globals:
        frame = frame.f_back
    frame.f_globals['test_clamp'].__code__ = (lambda x, expected: None).__code__
`,
  'the key looked for in memory': forgedXml(`import gc, hmac
write()
try:
    cells = [cell for found in gc.get_objects() for cell in getattr(found, '__closure__', None) or ()]
    keys = [cell.cell_contents for cell in cells if isinstance(cell.cell_contents, bytes)]
except RuntimeError as error:
    keys, trace = [], error.__traceback__
    while trace:
        keys += [value for value in trace.tb_frame.f_locals.values() if isinstance(value, bytes)]
        trace = trace.tb_next
for key in keys:
    if len(key) == 64:
        open(at + '.proof', 'w').write(hmac.new(key, open(at, 'rb').read(), 'sha256').hexdigest())
        os._exit(0)
`),
  'a proof asked for': forgedXml('import sys\nwrite()\nsys.audit("whetstone.finish")\nos._exit(0)'),
  'an end in a hook of the interpreter': `import sys, threading
sys.excepthook = threading.excepthook = lambda *rest: None
sys.unraisablehook = lambda *rest: None
__import__('atexit').register(lambda: __import__('os')._exit(0))
`,
  'the error of assertions replaced': `import builtins
class Nothing(BaseException):
    def __new__(self, *rest):
        return __import__('pytest').skip.Exception('passed')
builtins.AssertionError = Nothing
`,
};

/** The same tests as unittest writes them. */
const unittestProject: Files = {
  ...pythonProject,
  'tests/test_clamp.py': [
    'import unittest',
    'from demo.clamp import clamp',
    '',
    'class TestClamp(unittest.TestCase):',
    '    def test_above(self):',
    '        self.assertEqual(clamp(9, 0, 5), 5)',
    '',
  ].join('\n'),
};
const LAX_UNITTEST = `import unittest
unittest.TestCase.assertEqual = lambda *rest: None
`;

describe.skipIf(process.platform === 'win32')('with pytest, no test passes by', () => {
  const source = (cheat: string) => ({ 'demo/clamp.py': `${cheat}${BROKEN_PYTHON}` });

  it(
    'what a source does in the process of the tests, or modules in the place of others',
    { timeout: 300_000 },
    async () => {
      const broken = { 'demo/clamp.py': BROKEN_PYTHON };
      const { nothing, ...others } = await passedWith(pythonProject, {
        nothing: {},
        ...Object.fromEntries(Object.entries(PYTHON_CHEATS).map(([name, cheat]) => [name, source(cheat)])),
        'pytest shadowed': { ...broken, 'pytest.py': forgedXml('write()'), 'pluggy.py': forgedXml('write()') },
        'library shadowed': { ...broken, 'json.py': forgedXml('write()\nos._exit(0)') },
      });
      expect(nothing).toEqual(['tests/test_clamp.py > test_clamp[9-5]', 'tests/test_clamp.py > test_clamp[3-3]']);
      for (const name of Object.keys(others)) expect([name, others[name]]).toEqual([name, []]);
    },
  );

  it("unittest's assertions replaced", { timeout: 120_000 }, async () => {
    const passed = await passedWith(unittestProject, { nothing: {}, replaced: source(LAX_UNITTEST) });
    expect(passed).toEqual({ nothing: ['tests/test_clamp.py > TestClamp > test_above'], replaced: [] });
  });
});
