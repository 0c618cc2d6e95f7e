import { channelSource } from '../childLauncher.js';
import { languageLock } from '../languageLock.js';

/** Name of the symbol under which the preload hands over to the runner, which takes it away. */
const handOver = 'whetstone.runner';

/**
 * A module that every worker of Vitest's imports before anything else. It takes the secrets of the worker's channel, and
 * keeps in its closure what `vitestRunner` records:
 * - who made a test, what its function is, and whether it is expected to fail, when it is made;
 * - the tests there are, when the file has been collected;
 * - whether the function really returned.
 * A test has passed where that says so and Vitest does as well, whatever code under test makes of Vitest's objects later.
 * Before the first test file is loaded (and after the repository's own set-up files), the language, the assertions and
 * Vitest's functions are locked.
 * Not covered: reading the process's memory from outside, native code, a script run under the name of a test file by
 * `node:vm`, values that equal everything by what is legal in the language (a `toJSON`, a Proxy), and what tests call of
 * other libraries.
 */
const preload = String.raw`
import assert from 'node:assert';
import fs from 'node:fs';
import inspector from 'node:inspector';
import Module, { syncBuiltinESMExports } from 'node:module';
${channelSource}
${languageLock}

const { queueMicrotask } = globalThis;

const makeRunner = (send, { Base, getFn, vitest }) => {
  const made = new Map();
  let tests = [];

  const record = (test, field, value) => {
    const known = made.get(test);
    if (known && known[field] === undefined) known[field] = value;
  };
  const takeFunction = (test) => record(test, 'run', getFn(test));
  const suitesOf = (test) => {
    const names = [made.get(test)?.name ?? test.name];
    for (let suite = test.suite; suite && suite !== test.file; suite = suite.suite) names.unshift(suite.name);
    return names;
  };
  const testsIn = (suite) => suite.tasks.flatMap((task) => (task.type === 'suite' ? testsIn(task) : [task]));

  const lockVitest = (mocker) => {
    const names = ['expect', 'test', 'it', 'describe', 'suite', 'assert', 'chai'];
    const { chai, expect } = vitest;
    const global = globalThis[Symbol.for('expect-global')];
    const holders = [chai.Assertion.prototype, chai.Assertion, chai.assert, chai.expect, expect, expect.not, global, Base, Base.prototype];
    for (const name of names) holders.push(vitest[name]);
    for (const holder of holders) if (holder && !Object.isFrozen(holder)) lock(holder);
    const matchers = globalThis[Symbol.for('$$jest-matchers-object')];
    if (matchers) {
      lock(matchers.matchers);
      // What decides whether two values are equal is settled by now.
      Object.freeze(matchers.customEqualityTesters);
    }
    // An object that has this says itself what it equals.
    lockAbsent(Object.prototype, 'asymmetricMatch');
    for (const name of names) {
      if (Object.hasOwn(globalThis, name)) defineProperty(globalThis, name, { writable: false, configurable: false });
    }
    const { queueMock } = mocker ?? {};
    if (!queueMock) return;
    const queueOther = function (id) {
      if (/^(@vitest\/|(vitest|chai|(node:)?assert)(\/|$))/.test(id)) throw new TypeError(id + ' cannot be mocked');
      return applyFunction(queueMock, mocker, arguments);
    };
    defineProperty(mocker, 'queueMock', { value: queueOther });
  };

  let isLocked = false;
  const lockOnce = (runner) => {
    if (isLocked) return;
    isLocked = true;
    lockLanguage();
    lockVitest((runner.moduleRunner ?? runner.__vitest_executor)?.mocker);
  };

  const errorOf = (test) => {
    for (let task = test; task; task = task.suite ?? (task === task.file ? undefined : task.file)) {
      const error = task.result?.errors?.[0];
      if (error) return error;
    }
    return undefined;
  };
  const statusOf = (test) => {
    const known = made.get(test);
    const state = test.result?.state;
    const isNeverRun = known.threw === undefined && known.returned === undefined;
    if (known.mode === 'skip' || known.mode === 'todo') return 'skipped';
    // Where a hook of a suite failed, its tests are skipped too.
    if (state === 'skip' || (isNeverRun && state !== 'pass')) return errorOf(test) ? 'failed' : 'skipped';
    const isAsExpected = known.expectsFailure ? known.threw : known.returned && !known.threw;
    return state === 'pass' && isAsExpected ? 'passed' : 'failed';
  };

  return class extends Base {
    extendTaskContext(context) {
      const { task } = context;
      task.retry = 0;
      const extended = super.extendTaskContext(context);
      made.set(task, { maker: makerOf(), name: task.name, expectsFailure: task.fails === true });
      queueMicrotask(() => takeFunction(task));
      return extended;
    }
    importFile(file, source) {
      if (source === 'collect') lockOnce(this);
      return super.importFile(file, source);
    }
    onCollected(files) {
      tests = files.flatMap((file) => testsIn(file).map((test) => ({ test, path: suitesOf(test), file: file.filepath })));
      for (const { test } of tests) {
        takeFunction(test);
        record(test, 'mode', test.mode);
      }
      return super.onCollected?.(files);
    }
    async runTask(test) {
      const known = made.get(test);
      if (!known?.run || known.name !== test.name || getFn(test) !== known.run) {
        throw new Error('The test was replaced while the tests ran.');
      }
      try {
        await known.run();
        known.returned = true;
      } catch (error) {
        known.threw = true;
        throw error;
      }
    }
    async onAfterRunFiles(files) {
      await super.onAfterRunFiles(files);
      let lines = jsonOf({ kind: 'file', file: files[0].filepath, project: files[0].projectName ?? '' }) + '\n';
      for (const { test, path, file } of tests) {
        const known = made.get(test);
        if (!known) continue;
        const status = statusOf(test);
        lines += resultLine({ path, file: known.maker, entryFile: file, status, error: errorOf(test) });
      }
      send(lines);
    }
  };
};

const send = takeChannel();
if (send) {
  // Processes that the tests start are not to load this again.
  process.execArgv.splice(0, 2);
  lockAssertions();
  closeInspector();
  syncBuiltinESMExports();
  defineProperty(globalThis, Symbol.for('${handOver}'), {
    value: (vitest) => makeRunner(send, vitest),
    configurable: true,
  });
}
//# sourceURL=whetstone:worker
`;

/** The test runner that Vitest's workers load: Vitest's own, with what the preload records. `VITEST` stands for its folder. */
export const vitestRunner = String.raw`
const symbol = Symbol.for('${handOver}');
const make = globalThis[symbol];
delete globalThis[symbol];
const vitest = await import('VITEST/index.js');
const { getFn } = await import('VITEST/suite.js');
// Vitest 4.1 moved it to its main module.
const Base = vitest.TestRunner ?? (await import('VITEST/runners.js')).VitestTestRunner;
export default make({ Base, getFn, vitest });
`;

export const vitestPreloadUrl = `data:text/javascript;base64,${Buffer.from(preload).toString('base64')}`;
