import { oneTimeTag } from './oneTimeTag.js';

/** Variable with the file descriptor over which the process of a test file speaks with the launcher. */
export const channelVariable = 'WHETSTONE_RESULTS_CHANNEL';

/**
 * A module that the process of every test file imports before anything else, given to Node as a `data:` URL so that no file
 * of ours has to lie where the tests run. It uses builtin modules only and runs on Node 20 and newer.
 * - It takes the secrets of a one-time tag off the channel, and at the end writes one JSON line there:
 *   `{lines, tag}`, where `lines` holds a JSON line for every finished test. Without a right tag nothing counts.
 * - It records each result where node:test itself reports it: by its own `emit` on the one stream that all results
 *   go through. The classes of node:test are cut off from prototypes that others can change, and the ways to get hold of
 *   one of its tests, of that stream or of this module's variables are closed.
 * - It locks the assertions and the test functions, which a source under test would otherwise replace.
 * Variables hold what is needed later of the language itself, since by then code under test may have replaced that.
 * Not covered: reading the process's memory from outside, native code, and what tests call of the language or of other
 * libraries than node:assert.
 */
const source = String.raw`
import assert from 'node:assert';
import asyncHooks from 'node:async_hooks';
import fs from 'node:fs';
import inspector from 'node:inspector';
import Module, { createRequire, syncBuiltinESMExports } from 'node:module';
import { inspect } from 'node:util';
import { isMainThread } from 'node:worker_threads';

const test = createRequire('file:///')('node:test');
const { apply } = Reflect;
const { stringify } = JSON;
const { readSync, writeSync } = fs;
const bytesOf = Buffer.from;
const text = String;
const isPrototypeOf = Function.prototype.call.bind(Object.prototype.isPrototypeOf);

const lock = (object) => {
  for (const name of Reflect.ownKeys(object)) {
    const found = Object.getOwnPropertyDescriptor(object, name);
    if (found.configurable && 'value' in found) Object.defineProperty(object, name, { writable: false, configurable: false });
  }
};

function lockAssertions() {
  const register = test.assert?.register;
  if (register) {
    const registerNew = (name, check) => {
      if (name in assert) throw new TypeError('assert.' + name + ' cannot be replaced');
      register(name, check);
    };
    // Node 22 makes this object anew whenever it is asked for.
    Object.defineProperty(test, 'assert', { value: { ...test.assert, register: registerNew }, enumerable: true });
  }
  [assert, assert.strict, assert.Assert?.prototype, test.assert, test].filter(Boolean).forEach(lock);
  const own = { __proto__: null, assert, 'assert/strict': assert.strict };
  for (const name of ['assert', 'assert/strict']) own['node:' + name] = own[name];
  own['node:test'] = test;
  const guard = (holder, name, answer) => {
    let current = holder[name];
    const set = (value) => {
      current = function (request) {
        return typeof request === 'string' && own[request] ? answer(request) : apply(value, this, arguments);
      };
    };
    Object.defineProperty(holder, name, { get: () => current, set, configurable: false });
  };
  guard(Module, '_load', (request) => own[request]);
  guard(Module.prototype, 'require', (request) => own[request]);
  guard(Module, '_resolveFilename', (request) => request);
}

/** The secrets of the tag, where the launcher started this process; a process that a test starts gets none. */
function takeSecrets() {
  const channel = Number(process.env.${channelVariable});
  delete process.env.${channelVariable};
  if (!channel || !isMainThread) return undefined;
  const bytes = Buffer.alloc(256);
  const length = readSync(channel, bytes);
  const [r, s] = JSON.parse(bytes.toString('utf8', 0, length)).map((hex) => BigInt('0x' + hex));
  bytes.fill(0);
  return { channel, secrets: [r, s] };
}

/** node:test's root test, made now, and with what is reachable from it kept out of others' hands. */
function openRoot() {
  let root;
  const capture = (id, type, trigger, resource) => (root ??= type === 'Test' ? resource : undefined);
  const hook = asyncHooks.createHook({ init: capture }).enable();
  test.before(() => {});
  hook.disable();
  root.hooks.before.length = 0;
  const tests = Object.getPrototypeOf(root);
  const base = Object.create(null, Object.getOwnPropertyDescriptors(Object.getPrototypeOf(tests)));
  Object.setPrototypeOf(tests, Object.freeze(base));
  // Others can get at this prototype by node:test's run().
  Object.freeze(Object.getPrototypeOf(root.reporter));
  hide(tests);
  closeInspector();
  waitForTests(root);
  return root;
}

function hide(tests) {
  const shown = (resource) => (isPrototypeOf(tests, resource) ? {} : resource);
  const { createHook, executionAsyncResource } = asyncHooks;
  asyncHooks.executionAsyncResource = () => shown(executionAsyncResource());
  asyncHooks.createHook = (callbacks) => {
    const init = callbacks?.init;
    if (typeof init !== 'function') return createHook(callbacks);
    return createHook({ ...callbacks, init: (id, type, trigger, resource) => init(id, type, trigger, shown(resource)) });
  };
}

function closeInspector() {
  const closed = () => {
    throw new Error('The inspector is not available where results are recorded.');
  };
  inspector.open = closed;
  inspector.Session.prototype.connect = closed;
  inspector.Session.prototype.connectToMainThread = closed;
  lock(inspector.Session.prototype);
  process.on('SIGUSR1', () => {});
  const { binding } = process;
  process.binding = (name) => (name === 'inspector' || name === 'async_wrap' ? closed() : apply(binding, process, [name]));
}

/** A file without tests, or one that fails before its first, has to end as any program does: loudly. */
function waitForTests(root) {
  const { on } = process;
  const handlers = ['uncaughtException', 'unhandledRejection'].map((event) => [event, process.listeners(event)]);
  for (const [event] of handlers) process.removeAllListeners(event);
  const createSubtest = function () {
    delete root.createSubtest;
    for (const [event, listeners] of handlers) for (const listener of listeners) apply(on, process, [event, listener]);
    return apply(root.createSubtest, root, arguments);
  };
  Object.defineProperty(root, 'createSubtest', { value: createSubtest, configurable: true });
}

const show = (value) =>
  inspect(value, { depth: 4, breakLength: Infinity, compact: true, maxArrayLength: 20, maxStringLength: 160, sorted: true })
    .slice(0, 200);

/** One JSON object of strings and truth values, made without a look at any prototype's toJSON. */
function jsonOf(fields) {
  let json = '';
  for (const name in fields) {
    const value = fields[name];
    if (value === undefined) continue;
    json += (json === '' ? '' : ',') + stringify(name) + ':' + (typeof value === 'string' ? stringify(value) : value === true);
  }
  return json;
}

function describe(error) {
  if (error === undefined || error === null) return undefined;
  const cause = error.cause;
  const inner = cause !== null && typeof cause === 'object' && typeof cause.message === 'string' ? cause : error;
  const described = {
    __proto__: null,
    message: text(inner.message ?? error.message),
    name: inner === error ? undefined : text(inner.name ?? ''),
    stack: typeof inner.stack === 'string' ? inner.stack : undefined,
    failureType: typeof error.failureType === 'string' ? error.failureType : undefined,
  };
  if (typeof inner.operator === 'string') {
    described.operator = inner.operator;
    described.generated = inner.generatedMessage === true;
    if ('expected' in inner && inner.expected !== undefined) described.expected = text(show(inner.expected));
    if ('actual' in inner) described.actual = text(show(inner.actual));
  }
  return '{' + jsonOf(described) + '}';
}

function tryToDescribe(error) {
  try {
    return describe(error);
  } catch {
    return '{"message":"The error cannot be shown."}';
  }
}

${oneTimeTag}
function recordResults({ channel, secrets }) {
  const { reporter: stream } = openRoot();
  const { emit, push } = stream;
  const open = { __proto__: null };
  const held = { __proto__: null };
  let heldCount = 0;
  let lines = '';
  let finished = false;

  const record = (type, data) => {
    if (type === 'test:start') open[data.nesting] = data.name;
    if (type !== 'test:pass' && type !== 'test:fail') return;
    open[data.nesting] = data.name;
    let path = '';
    for (let depth = 0; depth <= data.nesting; depth += 1) path += (depth > 0 ? ',' : '') + stringify(text(open[depth] ?? ''));
    const fields = jsonOf({
      __proto__: null,
      file: data.file,
      suite: data.details?.type === 'suite',
      passed: type === 'test:pass',
      skipped: (data.skip !== undefined && data.skip !== false) || (data.todo !== undefined && data.todo !== false),
    });
    const error = type === 'test:fail' ? tryToDescribe(data.details?.error) : undefined;
    lines += '{"kind":"result","path":[' + path + '],' + fields + (error ? ',"error":' + error : '') + '}\n';
  };
  const finish = () => {
    if (finished) return;
    finished = true;
    const bytes = bytesOf('{"lines":' + stringify(lines) + ',"tag":"' + tagOf(lines, secrets) + '"}\n');
    for (let at = 0; at < bytes.length; ) at += writeSync(channel, bytes, at);
  };
  const emitRecorded = function (type, data) {
    if (!finished) record(type, data);
    return apply(emit, stream, arguments);
  };
  // What people read of the results waits for the end: a stream that works calls functions that others may have replaced.
  const pushAtEnd = (message) => {
    if (!finished && message !== null) {
      held[heldCount++] = message;
      return true;
    }
    finish();
    for (let at = 0; at < heldCount; at += 1) apply(push, stream, [held[at]]);
    heldCount = 0;
    return apply(push, stream, [message]);
  };
  Object.defineProperties(stream, { emit: { value: emitRecorded }, push: { value: pushAtEnd } });
  process.on('exit', finish);
}

lockAssertions();
const granted = takeSecrets();
if (granted) {
  recordResults(granted);
  // As in the processes that node:test starts itself.
  process.env.NODE_TEST_CONTEXT = 'child-v8';
}
syncBuiltinESMExports();
//# sourceURL=whetstone:results
`;

export const nodePreloadUrl = `data:text/javascript;base64,${Buffer.from(source).toString('base64')}`;
