/**
 * Source of what a process needs that records the results of tests beside code under test, which may replace any function
 * of the language; a part of what Vitest, Mocha and Jest are started with. Wants `assert`, `inspector` and `Module`
 * imported. To be run before any code under test is loaded, `lockLanguage` after the repository's own preparations
 * (polyfills, plugins of assertions).
 * - `lockLanguage()`: assertions and our own records rest on functions of the language: those of objects, functions,
 *   collections, promises, texts and numbers can no longer be replaced. An object that inherits one may still have its own.
 *   `JSON`, `Math`, the time and the console stay open: tests spy on them.
 * - `lock(object)`: an object's own properties can no longer be replaced, new ones can be added.
 * - `lockAssertions()`: node:assert. `closeInspector()`: the debugger, which would show closures.
 * - `makerOf(called)`: the file whose code called the function `called`, code of dependencies left out: '' where none is known.
 * - `resultLine({path, file, …})`: a result as `nodeLauncher` writes it.
 */
export const languageLock = String.raw`
const { apply: applyFunction, ownKeys } = Reflect;
const { defineProperty, getOwnPropertyDescriptor } = Object;
const { stringify: stringifyText } = JSON;
const textOf = String;

const lock = (object, except = []) => {
  for (const name of ownKeys(object)) {
    const found = getOwnPropertyDescriptor(object, name);
    if (!found.configurable || except.includes(name)) continue;
    defineProperty(object, name, 'value' in found ? { writable: false, configurable: false } : { configurable: false });
  }
};

/** A property that cannot be written would also forbid those who inherit it to have one of their own. */
const lockInherited = (holder) => {
  for (const name of ownKeys(holder)) {
    const found = getOwnPropertyDescriptor(holder, name);
    if (!found.configurable || typeof found.value !== 'function' || name === 'constructor') continue;
    const { value } = found;
    defineProperty(holder, name, {
      get: () => value,
      set(own) {
        if (this === holder) throw new TypeError(textOf(name) + ' cannot be replaced where results are recorded');
        defineProperty(this, name, { value: own, writable: true, enumerable: true, configurable: true });
      },
      configurable: false,
    });
  }
};

/** Keeps a property from being put where every object would inherit it. */
const lockAbsent = (holder, name) => {
  const set = function (own) {
    if (this === holder) throw new TypeError(name + ' cannot be added where results are recorded');
    defineProperty(this, name, { value: own, writable: true, enumerable: true, configurable: true });
  };
  defineProperty(holder, name, { get: () => undefined, set, configurable: false });
};

const lockLanguage = () => {
  for (const type of [Object, Reflect, Array, Number, String, Symbol, BigInt, Promise]) lock(type);
  const types = [Array, String, Number, Boolean, Symbol, BigInt, RegExp, Date, Map, Set, WeakMap, WeakSet, Promise];
  for (const { prototype } of types) lock(prototype, ['constructor', 'toString', 'toLocaleString']);
  for (const { prototype } of types) lockInherited(prototype);
  for (const { prototype } of [Object, Function, Error]) lockInherited(prototype);
};

const lockAssertions = () => {
  [assert, assert.strict, assert.Assert?.prototype].filter(Boolean).forEach((holder) => lock(holder));
  const own = { __proto__: null, assert, 'assert/strict': assert.strict };
  for (const name of ['assert', 'assert/strict']) own['node:' + name] = own[name];
  const guard = (holder, name, answer) => {
    let current = holder[name];
    const set = (value) => {
      current = function (request) {
        return typeof request === 'string' && own[request] ? answer(request) : applyFunction(value, this, arguments);
      };
    };
    defineProperty(holder, name, { get: () => current, set, configurable: false });
  };
  guard(Module, '_load', (request) => own[request]);
  guard(Module.prototype, 'require', (request) => own[request]);
  guard(Module, '_resolveFilename', (request) => request);
};

const closeInspector = () => {
  const closed = () => {
    throw new Error('The inspector is not available where results are recorded.');
  };
  inspector.open = closed;
  for (const name of ['connect', 'connectToMainThread']) inspector.Session.prototype[name] = closed;
  lock(inspector.Session.prototype);
  process.on('SIGUSR1', () => {});
  const { binding } = process;
  process.binding = (name) => (name === 'inspector' ? closed() : applyFunction(binding, process, [name]));
};

const { captureStackTrace } = Error;
const { getFileName, isEval } = (() => {
  const { prepareStackTrace } = Error;
  Error.prepareStackTrace = (_, sites) => sites;
  const prototype = Object.getPrototypeOf(new Error().stack[0]);
  Error.prepareStackTrace = prepareStackTrace;
  return { getFileName: prototype.getFileName, isEval: prototype.isEval };
})();

const makerOf = (called = makerOf) => {
  const { prepareStackTrace, stackTraceLimit } = Error;
  // Taken here and not from what comes out, which somebody else may have made.
  let sites = [];
  try {
    Error.stackTraceLimit = 60;
    Error.prepareStackTrace = (_, found) => {
      sites = found;
      return '';
    };
    const holder = {};
    captureStackTrace(holder, called);
    void holder.stack;
  } finally {
    Error.prepareStackTrace = prepareStackTrace;
    Error.stackTraceLimit = stackTraceLimit;
  }
  for (let at = 0; at < sites.length; at += 1) {
    const name = applyFunction(getFileName, sites[at], []);
    if (applyFunction(isEval, sites[at], [])) return '';
    // Functions of the language have no file.
    if (typeof name !== 'string') continue;
    if (!/^(node|data):|[\\/]node_modules[\\/]|^whetstone:/.test(name)) return name.replace(/[?#].*$/, '');
  }
  return '';
};

/** One JSON object of strings and truth values, made without a look at any prototype's toJSON. */
const jsonOf = (fields) => {
  let json = '';
  for (const name of ownKeys(fields)) {
    const value = fields[name];
    if (value === undefined) continue;
    const isString = typeof value === 'string';
    json += (json === '' ? '' : ',') + stringifyText(name) + ':' + (isString ? stringifyText(value) : value === true);
  }
  return '{' + json + '}';
};

const ownFrame = /^.*(\bdata:text\/javascript;|\/\[eval\d*\]:).*\n?/gm;

const describeError = (error) => {
  try {
    const isObject = error !== null && typeof error === 'object';
    const { message, name, stack, code, operator, generatedMessage } = isObject ? error : { message: textOf(error) };
    const isOfNode = code === 'ERR_ASSERTION' && typeof operator === 'string';
    return jsonOf({
      message: textOf(message ?? ''),
      name: typeof name === 'string' ? name : undefined,
      operator: isOfNode ? operator : undefined,
      generated: isOfNode ? generatedMessage === true : undefined,
      // Without our own frames, some of whose addresses are their whole text.
      stack: typeof stack === 'string' ? stack.replace(ownFrame, '') : undefined,
    });
  } catch {
    return '{"message":"The error cannot be shown."}';
  }
};

const resultLine = ({ path, file, entryFile, status, error, stderr }) => {
  let names = '';
  for (let at = 0; at < path.length; at += 1) names += (at > 0 ? ',' : '') + stringifyText(textOf(path[at]));
  const isFailed = status === 'failed';
  const fields = jsonOf({ file, entryFile, suite: false, passed: status === 'passed', skipped: status === 'skipped', stderr });
  const described = isFailed && error !== undefined ? ',"error":' + describeError(error) : '';
  return '{"kind":"result","path":[' + names + '],' + fields.slice(1, -1) + described + '}\n';
};
`;
