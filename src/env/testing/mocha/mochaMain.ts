import { channelSource } from '../childLauncher.js';
import { languageLock } from '../languageLock.js';

/**
 * What the process of Mocha is told, as JSON in its first argument; the others are the files, relative to where it is
 * started, in the order in which they are loaded.
 */
export interface MochaOptions {
  /** Arguments of the package's own script, flags of Node's among them. */
  readonly args: readonly string[];
  readonly nodeFlags: readonly string[];
  /** May code of tests replace what chai brings, as plugins of chai do when a test file takes them up? */
  readonly hasChaiPlugins: boolean;
}

/**
 * Runs Mocha by its own command line's code with the repository's configuration, one file after the other in this process,
 * and records the results in a closure beside it. Started by `childLauncher`. Mocha shares its process with the code under
 * test. Therefore, before the first test file is loaded (and after what `--require` names), the language, assertions and
 * Mocha's classes are locked, and a test has passed only where
 * - it was made, with its function and its names, by a test file (`makerOf`), and still has them when it runs;
 * - its function really returned, or gave a promise that was kept, or called `done` without an error;
 * - no hook around it failed, and Mocha says as well that it passed.
 * A file that cannot be loaded fails alone, where Mocha itself would run none. Results that are not sent to their end do
 * not count: after `process.exit` in a test there are none.
 * Not covered: reading the process's memory from outside, native code, a script run under the name of a test file by
 * `node:vm`, a `done` that a test hands to the code under test, a file named by `--require` that loads code under test,
 * and assertions of other libraries than node:assert and chai (with plugins of chai: chai's own either until all files
 * are loaded).
 */
export const mochaMain = String.raw`
import assert from 'node:assert';
import { spawn } from 'node:child_process';
import { EventEmitter } from 'node:events';
import fs from 'node:fs';
import inspector from 'node:inspector';
import Module, { createRequire, syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
${channelSource}
${languageLock}
const { args, nodeFlags, hasChaiPlugins } = JSON.parse(process.argv[1]);
const files = process.argv.slice(2);
const respawned = 'WHETSTONE_RESPAWNED';
const requireHere = createRequire(path.resolve('package.json'));
const folder = path.dirname(requireHere.resolve('mocha/package.json'));
const partOf = (name) => {
  const found = ['.cjs', '.js'].map((extension) => path.join(folder, 'lib', 'cli', name + extension)).find((file) => fs.existsSync(file));
  return requireHere(found);
};

const wanted = files.map((file) => path.resolve(file));

/** Mocha's own options, Node's flags apart from them. */
function readOptions() {
  const { isNodeFlag, unparseNodeFlags } = partOf('node-flags');
  const ofNode = {};
  const ofMocha = {};
  for (const [name, value] of Object.entries(partOf('options').loadOptions([...args]))) {
    if (isNodeFlag(name)) ofNode[name.replace(/^v8-(?!options$)/, '')] = value;
    else ofMocha[name] = value;
  }
  const given = [ofMocha['node-option'] ?? ofMocha.n ?? []].flat().map((flag) => '--' + flag);
  const flags = [...nodeFlags, ...(given.length > 0 ? given : unparseNodeFlags(ofNode))];
  const aliases = ['R', 'b', 'p', 'j', 'w', 'c', 'n', 'O', 'node-option', 'colors', 'reporter-option', 'reporter-options', 'reporterOption', 'reporterOptions'];
  for (const name of aliases) delete ofMocha[name];
  const fixed = { _: [], spec: wanted, reporter: 'spec', parallel: false, watch: false, bail: false, retries: 0, exit: true, color: false, 'full-trace': true, fullTrace: true };
  const allowed = { 'forbid-only': false, forbidOnly: false, 'forbid-pending': false, forbidPending: false };
  return { flags, options: { ...ofMocha, ...allowed, ...fixed } };
}

/** Node's flags need a process of their own; the channel goes on to it unread. */
function respawn(flags) {
  const child = spawn(process.execPath, [...flags, ...process.execArgv, '--', ...process.argv.slice(1)], {
    stdio: ['inherit', 'inherit', 'inherit', 3],
    env: { ...process.env, [respawned]: '1' },
  });
  child.on('exit', (code) => process.exit(code ?? 1));
}

const titlesOf = (suite) => (suite.parent ? [...titlesOf(suite.parent), suite.title] : []);

function record(Mocha, send) {
  const { Suite, Runnable, Runner, Test, Hook, Context } = Mocha;
  const made = new Map();
  const broken = [];
  const hooks = [];
  let loading;

  const wrap = (holder, name, make) => {
    holder[name] = make(holder[name]);
  };
  /** The test's function, which notes by itself how it ends: Mocha's own callbacks can be called by others. */
  const noting = (run, known) => {
    const note = (error) => (error ? (known.threw = true) : (known.returned = true));
    const noted = function (done) {
      const given = done && ((error) => (note(error), done(error)));
      try {
        const result = applyFunction(run, this, given ? [given] : []);
        if (typeof result?.then === 'function') {
          const fail = (error) => {
            note(error ?? true);
            throw error;
          };
          return result.then((value) => (note(), value), fail);
        }
        if (!given) note();
        return result;
      } catch (error) {
        note(error ?? true);
        throw error;
      }
    };
    defineProperty(noted, 'length', { value: run.length });
    return defineProperty(noted, 'call', { value: Function.prototype.call });
  };
  wrap(Suite.prototype, 'addTest', (original) => function addTest(test) {
    const path = [...titlesOf(this), test.title];
    const known = { maker: makerOf(addTest), title: test.title, path, file: loading ?? test.file ?? '' };
    made.set(test, known);
    if (typeof test.fn === 'function') {
      known.run = noting(test.fn, known);
      defineProperty(test, 'fn', { value: known.run, writable: false, configurable: false });
    }
    return applyFunction(original, this, [test]);
  });
  wrap(Runnable.prototype, 'run', (original) => function (callback) {
    const known = made.get(this);
    const isReplaced = known && (this.fn !== known.run || this.title !== known.title);
    if (isReplaced) return callback(new Error('The test was replaced while the tests ran.'));
    return applyFunction(original, this, [callback]);
  });
  for (const type of [Suite, Runnable]) {
    type.prototype.retries = function () {
      return arguments.length > 0 ? this : 0;
    };
  }

  const lockAll = () => {
    lockLanguage();
    lockInherited(EventEmitter.prototype);
    for (const type of [Mocha, Suite, Runnable, Runner, Test, Hook, Context]) {
      // An instance may have its own: Mocha gives them some.
      lockInherited(type.prototype);
      lock(type);
    }
  };
  const lockChai = async () => {
    let chai;
    try {
      chai = await import(pathToFileURL(requireHere.resolve('chai')).href);
    } catch {
      return;
    }
    for (const module of [chai, chai.default]) {
      const holders = [module?.Assertion?.prototype, module?.Assertion, module?.assert, module?.expect];
      for (const holder of holders) if (holder && !Object.isFrozen(holder)) lock(holder);
    }
  };

  wrap(Mocha.prototype, 'loadFilesAsync', (original) => async function (...rest) {
    const all = this.files;
    this.cleanReferencesAfterRun(false);
    if (!hasChaiPlugins) await lockChai();
    lockAll();
    for (const file of all) {
      loading = file;
      this.files = [file];
      try {
        await applyFunction(original, this, rest);
      } catch (error) {
        broken.push({ file, error });
      }
    }
    loading = undefined;
    this.files = all;
    if (hasChaiPlugins) await lockChai();
  });

  const errorFor = (test) => {
    const known = made.get(test);
    if (known.error !== undefined) return known.error;
    for (let suite = test.parent; suite; suite = suite.parent) {
      const hook = hooks.find((found) => found.suite === suite && !found.isAfterAll);
      if (hook) return hook.error;
    }
    return undefined;
  };
  const statusOf = (test) => {
    const known = made.get(test);
    const hasRun = known.returned || known.threw || test.state === 'failed';
    if (!hasRun && errorFor(test) !== undefined) return 'failed';
    if (test.isPending() || test.state === 'pending' || (!hasRun && test.state === undefined)) return 'skipped';
    const isGood = known.returned && !known.threw && known.error === undefined;
    return isGood && test.state === 'passed' ? 'passed' : 'failed';
  };
  const noteFailure = (runnable, error) => {
    const known = made.get(runnable) ?? made.get(runnable.ctx?.currentTest);
    const isAfterAll = /^"after all" hook/.test(runnable.title);
    if (known && !isAfterAll) known.error ??= error ?? new Error('The test failed without an error.');
    if (!made.has(runnable)) hooks.push({ suite: runnable.parent, title: runnable.title, file: runnable.file, error, isAfterAll });
  };
  const linesOf = (tests) => {
    let lines = '';
    for (const { file, error } of broken) {
      const stderr = typeof error?.stack === 'string' ? error.stack.replace(ownFrame, '') : undefined;
      lines += resultLine({ path: [file], file, entryFile: file, status: 'failed', error, stderr });
    }
    for (const test of tests) {
      const { path, maker, file } = made.get(test);
      lines += resultLine({ path, file: maker, entryFile: file, status: statusOf(test), error: errorFor(test) });
    }
    for (const { suite, title, file, error, isAfterAll } of hooks) {
      if (suite && !isAfterAll) continue;
      const [first] = tests.filter((test) => suite && titlesOf(suite).every((name, at) => made.get(test).path[at] === name));
      const entryFile = file ?? made.get(first)?.file ?? wanted[0];
      const path = [...(suite ? titlesOf(suite) : []), isAfterAll ? '"after all" hook' : title];
      lines += resultLine({ path, file: entryFile, entryFile, status: 'failed', error });
    }
    return lines;
  };
  wrap(Runner.prototype, 'run', (original) => function (callback, options) {
    const tests = [...made.keys()];
    this.on('fail', noteFailure);
    const end = (failures) => {
      send(linesOf(tests));
      callback?.(failures + broken.length);
    };
    return applyFunction(original, this, [end, options]);
  });
}

const { flags, options } = readOptions();
if (flags.length > 0 && process.env[respawned] === undefined) {
  respawn(flags);
} else {
  delete process.env[respawned];
  const send = takeChannel();
  process.argv.splice(1, 1, path.join(folder, 'bin', 'mocha.js'));
  process.execArgv.length = 0;
  lockAssertions();
  closeInspector();
  syncBuiltinESMExports();
  const mocha = requireHere('mocha');
  record(mocha.default ?? mocha, send);
  const cli = await import(pathToFileURL(path.join(folder, 'lib', 'cli', 'cli.js')).href);
  (cli.main ?? cli.default.main)([], options);
}
`;
