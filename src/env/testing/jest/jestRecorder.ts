import { languageLock } from '../languageLock.js';

/**
 * Locks the language in the context of a test file, and what jest-circus and Jest's assertions walk through lists with. No
 * matcher's name can be given to what all objects inherit.
 */
const contextLock = `(() => {${languageLock}
  const iterators = [[].values(), new Map().values(), new Set().values(), ''[Symbol.iterator](), (function* () {}).prototype];
  return () => {
    lockLanguage();
    for (const iterator of iterators) lockInherited(Object.getPrototypeOf(iterator));
    Object.preventExtensions(Object.prototype);
  };
})()`;

/**
 * Source of `recordFile(environment, runtime, testPath, project)`: the results of one test file, taken beside jest-circus and
 * not from it. jest-circus works in the context of the code under test, on state that this code can reach and with
 * functions that it can replace. So what is recorded here rests on the test functions themselves:
 * - Each test's and hook's function is put into one of ours, outside of that context, which sees how it ends. A test has passed where
 *   it was run, came to a good end, and jest-circus noted no error either (in an array of ours): a hook that failed, a time-out, a
 *   missing assertion.
 * - Retries count for nothing: a test that failed once has failed.
 * - From the moment the test file is loaded, that is after the repository's own preparations, the globals of Jest's, the matchers that
 *   are there, the ways to compare, and the functions of the language that assertions rest on can no longer be replaced. (A
 *   repository that brings its own matchers does so in its preparations.)
 * - Each test has the file that made it.
 * Wants languageLock's functions, and assert, vm, pathToFileURL and util's types imported.
 * Not covered: what a setup file of the repository loads from the source; mocks that the source makes of a library of
 * assertions other than these; hooks that it takes out of jest-circus's state; and what a source does, in the few steps that it takes to leave its context, to the test
 * files that come after it in the same process.
 */
export const jestRecorder = String.raw`
const { isPromise } = types;
const { runInContext } = vm;
const thenOf = Promise.prototype.then;
const OwnPromise = Promise;
const getFromMap = Map.prototype.get;
const setInMap = Map.prototype.set;
const { freeze } = Object;
const assertionModules = { __proto__: null, assert, 'assert/strict': assert.strict };
assertionModules['node:assert'] = assert;
assertionModules['node:assert/strict'] = assert.strict;
const contextLock = ${JSON.stringify(contextLock)};
const GeneratorFunction = Object.getPrototypeOf(function* () {}).constructor;
const isGenerator = (fn) => fn?.constructor?.name === 'GeneratorFunction';

/** The same function, where noted(true) or noted(false, error) is called when it ends. */
const watched = (fn, noted) => {
  const fail = (error) => noted(false, error);
  const pass = () => noted(true);
  const ended = (value) => {
    if (isPromise(value)) {
      applyFunction(thenOf, value, [pass, fail]);
      return value;
    }
    if (value === null || (typeof value !== 'object' && typeof value !== 'function') || typeof value.then !== 'function') {
      pass();
      return value;
    }
    return ended(new OwnPromise((resolve, reject) => value.then(() => resolve(), reject)));
  };
  const withDone = function (done) {
    const ownDone = (reason) => {
      if (reason) fail(reason);
      else pass();
      return done(reason);
    };
    try {
      return applyFunction(fn, this, [ownDone]);
    } catch (error) {
      fail(error);
      throw error;
    }
  };
  const plain = function () {
    try {
      return ended(applyFunction(fn, this, []));
    } catch (error) {
      fail(error);
      throw error;
    }
  };
  const generator = function* () {
    try {
      yield* applyFunction(fn, this, []);
      pass();
    } catch (error) {
      fail(error);
      throw error;
    }
  };
  return fn.length > 0 ? withDone : isGenerator(fn) ? generator : plain;
};

/** Calls noted for each error that test.errors ever holds. */
const armErrors = (test, noted) => {
  const arm = (errors) => {
    const push = (...added) => {
      for (let at = 0; at < added.length; at += 1) {
        noted(added[at]);
        defineProperty(errors, errors.length, { value: added[at], writable: true, enumerable: true, configurable: true });
      }
      return errors.length;
    };
    defineProperty(errors, 'push', { value: push });
    return errors;
  };
  let current = arm(test.errors);
  defineProperty(test, 'errors', {
    get: () => current,
    set(errors) {
      if (errors.length > 0) noted(errors[0]);
      current = arm(errors);
    },
    enumerable: true,
  });
};

/** As JSON. jest-circus gives an error together with one made where the test was declared, for what is no error itself. */
const described = (noted) => {
  try {
    const [error, declared] = Array.isArray(noted) ? noted : [noted];
    const { message, name, stack } =
      error !== null && typeof error === 'object' && (error.message || error.stack)
        ? { message: error.message || error.stack, name: error.name, stack: error.stack }
        : { message: error === undefined || error === null ? declared?.message : textOf(error), stack: declared?.stack };
    // Jest asks for a hundred frames, most of them its own.
    const frames = textOf(stack ?? '').split('\n').filter((line) => !/[\\/]node_modules[\\/]|\(node:/.test(line));
    return describeError({ message, name, stack: frames.slice(0, 60).join('\n') });
  } catch {
    return describeError({ message: 'The error cannot be shown.' });
  }
};

const lockAll = (value, seen) => {
  if (value === null || (typeof value !== 'object' && typeof value !== 'function') || seen.has(value)) return;
  seen.add(value);
  for (const name of ownKeys(value)) {
    const found = getOwnPropertyDescriptor(value, name);
    if (name !== 'prototype' && name !== 'constructor' && 'value' in found) lockAll(found.value, seen);
  }
  lock(value);
};

const globalNames = ['expect', 'test', 'it', 'xit', 'fit', 'xtest', 'describe', 'xdescribe', 'fdescribe']
  .concat(['beforeAll', 'beforeEach', 'afterAll', 'afterEach']);

const lockJest = (environment, isTheirs) => {
  const { global } = environment;
  runInContext(contextLock, environment.getVmContext())();
  const seen = new Set();
  for (const name of globalNames) {
    if (!(name in global)) continue;
    lockAll(global[name], seen);
    defineProperty(global, name, { value: global[name], writable: false, configurable: false });
  }
  for (const key of ownKeys(global)) {
    if (typeof key !== 'symbol' || key.description !== 'EVENT_HANDLERS') continue;
    freeze(global[key]);
    defineProperty(global, key, { value: global[key], writable: false, configurable: false });
  }
  const matchers = global[Symbol.for('$$jest-matchers-object')];
  if (!matchers) return;
  lock(matchers.matchers);
  defineProperty(matchers, 'matchers', { writable: false, configurable: false });
  const testers = matchers.customEqualityTesters;
  if (!testers) return;
  const push = (...added) => {
    if (!isTheirs(makerOf())) throw new TypeError('Only tests can say what is equal.');
    for (let at = 0; at < added.length; at += 1) testers[testers.length] = added[at];
    return testers.length;
  };
  defineProperty(testers, 'push', { value: push });
  defineProperty(matchers, 'customEqualityTesters', { writable: false, configurable: false });
};

const recordFile = (environment, runtime, testPath, project) => {
  const testUrl = textOf(pathToFileURL(testPath));
  // Nothing here is in an array or an object with a prototype: others could define setters there that get to see it.
  const tests = { __proto__: null };
  let count = 0;
  const known = new Map();
  const recordOf = (test) => applyFunction(getFromMap, known, [test]);
  let suite = { __proto__: null, parent: undefined, prefix: '' };
  let running;
  let fileError;
  let hasFileError = false;
  const failFile = (error) => {
    const isFirst = !hasFileError;
    hasFileError = true;
    if (isFirst) fileError = described(error);
  };
  const failTest = (record, error) => {
    record.hasError = true;
    record.error ??= described(error);
  };

  const addTest = (event, state) => {
    const record = {
      __proto__: null,
      suite,
      path: '[' + suite.prefix + stringifyText(textOf(event.testName)) + ']',
      maker: makerOf(),
      status: 'failed',
      isExpected: event.failing === true,
      isGood: false,
      isBad: false,
      hasError: false,
      error: undefined,
    };
    tests[count++] = record;
    const siblings = state.currentDescribeBlock.children;
    const test = siblings[siblings.length - 1];
    if (test?.type !== 'test' || recordOf(test)) return;
    applyFunction(setInMap, known, [test, record]);
    armErrors(test, (error) => failTest(record, error));
    if (typeof event.fn !== 'function') return;
    test.fn = watched(event.fn, (isGood, error) => {
      if (isGood) record.isGood = true;
      else record.isBad = true;
      if (!isGood && !record.isExpected) failTest(record, error);
    });
  };
  const addHook = (event, state) => {
    const { hooks } = state.currentDescribeBlock;
    const hook = hooks[hooks.length - 1];
    if (hook?.fn !== event.fn || typeof event.fn !== 'function') return;
    const type = event.hookType;
    const place = suite;
    hook.fn = watched(event.fn, (isGood, error) => {
      if (isGood) return;
      if (type === 'afterAll') failFile(error);
      else if (type === 'beforeAll') failBelow(place, error);
      else if (recordOf(running)) failTest(recordOf(running), error);
    });
  };
  const failBelow = (place, error) => {
    for (let at = 0; at < count; at += 1) {
      let above = tests[at].suite;
      while (above && above !== place) above = above.parent;
      if (above) failTest(tests[at], error);
    }
  };
  const finishTest = (record) => {
    if (!record || record.hasError) return;
    // A test that is expected to fail says nothing that could be earned.
    if (record.isExpected) record.status = record.isBad ? 'skipped' : 'failed';
    else if (record.isGood && !record.isBad) record.status = 'passed';
  };
  const see = (event, state) => {
    const { name } = event;
    if (name === 'start_describe_definition') {
      suite = { __proto__: null, parent: suite, prefix: suite.prefix + stringifyText(textOf(event.blockName)) + ',' };
    } else if (name === 'finish_describe_definition') suite = suite.parent ?? suite;
    else if (name === 'add_test') addTest(event, state);
    else if (name === 'add_hook') addHook(event, state);
    else if (name === 'test_start') running = event.test;
    else if (name === 'test_done') finishTest(recordOf(event.test));
    else if (name === 'test_skip' || name === 'test_todo') {
      const record = recordOf(event.test);
      if (record && !record.hasError) record.status = 'skipped';
    }
  };
  const { handleTestEvent } = environment;
  environment.handleTestEvent = (event, state) => {
    see(event, state);
    return typeof handleTestEvent === 'function' ? applyFunction(handleTestEvent, environment, [event, state]) : undefined;
  };

  let isLocked = false;
  for (const name of ['requireModule', 'unstable_importModule']) {
    const original = runtime[name];
    runtime[name] = function (file) {
      if (file === testPath && !isLocked) {
        isLocked = true;
        lockJest(environment, (maker) => maker === testPath || maker === testUrl);
      }
      return applyFunction(original, runtime, arguments);
    };
  }
  const { requireModuleOrMock } = runtime;
  runtime.requireModuleOrMock = (from, name) =>
    assertionModules[name] ?? applyFunction(requireModuleOrMock, runtime, [from, name]);

  /** A result as parseJestResults reads it; path is JSON, error too. */
  const lineOf = (path, file, status, error) =>
    '{"kind":"result","path":' + path + ',"project":' + stringifyText(textOf(project ?? '')) + ',' +
    jsonOf({ __proto__: null, file, entryFile: testPath, passed: status === 'passed', skipped: status === 'skipped' }).slice(1, -1) +
    (status === 'failed' && error !== undefined ? ',"error":' + error : '') + '}\n';
  return {
    end(result) {
      if (result?.testExecError) failFile(result.testExecError);
      if (count === 0) failFile({ message: 'The file holds no tests.' });
    },
    fail: failFile,
    /** One JSON line for each test in the order of their declaration, and one for the file where that failed. */
    lines() {
      let lines = '';
      for (let at = 0; at < count; at += 1) {
        const { path, maker, status, error } = tests[at];
        lines += lineOf(path, maker, status, error ?? '{"message":"The test did not come to its end."}');
      }
      return hasFileError ? lines + lineOf('[]', testPath, 'failed', fileError) : lines;
    },
  };
};
`;
