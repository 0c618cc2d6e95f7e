import { keyVariable } from './resultsProof.js';

/**
 * A module for node:test, given to Node as a `data:` URL so that no file of ours has to lie where the tests run. It imports
 * builtin modules only and runs on Node 20 and newer.
 * As a reporter it writes one JSON line per finished test. Lines: `{kind:'start', cwd, node}`, `{kind:'result', …}` and, only
 * where the run came to its end, `{kind:'end', proof}`: the proof is the HMAC of all lines before it.
 * It is also imported before anything else, in the runner's process and in those of the test files. There it takes the key
 * away before code of the repository runs, and locks the assertions and the test functions, which a source under test
 * would otherwise replace.
 */
const source = String.raw`
import assert from 'node:assert';
import { createHmac } from 'node:crypto';
import { readFileSync, unlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { inspect } from 'node:util';

const lock = (object) => {
  for (const name of Reflect.ownKeys(object)) {
    const found = Object.getOwnPropertyDescriptor(object, name);
    if (found.configurable && 'value' in found) Object.defineProperty(object, name, { writable: false, configurable: false });
  }
};
[assert, assert.strict, createRequire('file:///')('node:test')].forEach(lock);

const takeKey = () => {
  const file = process.env.${keyVariable};
  delete process.env.${keyVariable};
  try {
    const key = readFileSync(file, 'utf8');
    unlinkSync(file);
    return key;
  } catch {
    return undefined;
  }
};
const key = takeKey();

const show = (value) =>
  inspect(value, { depth: 4, breakLength: Infinity, compact: true, maxArrayLength: 20, maxStringLength: 160, sorted: true })
    .slice(0, 200);

function describe(error) {
  if (error === undefined || error === null) return undefined;
  const cause = error.cause;
  const inner = cause !== null && typeof cause === 'object' && typeof cause.message === 'string' ? cause : error;
  const described = {
    message: String(inner.message ?? error.message),
    name: inner === error ? undefined : String(inner.name ?? ''),
    stack: typeof inner.stack === 'string' ? inner.stack : undefined,
    failureType: error.failureType,
  };
  if (typeof inner.operator === 'string') {
    described.operator = inner.operator;
    described.generated = inner.generatedMessage === true;
    if ('expected' in inner && inner.expected !== undefined) described.expected = show(inner.expected);
    if ('actual' in inner) described.actual = show(inner.actual);
  }
  return described;
}

export default async function* reporter(events) {
  const proof = key && createHmac('sha256', key);
  const line = (value) => {
    const text = JSON.stringify(value) + '\n';
    if (proof) proof.update(text);
    return text;
  };
  yield line({ kind: 'start', cwd: process.cwd(), node: process.version });
  const open = [];
  const stderr = new Map();
  for await (const { type, data } of events) {
    if (type === 'test:stderr' && data.file) {
      const before = stderr.get(data.file) ?? '';
      if (before.length < 8192) stderr.set(data.file, before + data.message);
    }
    if (type === 'test:start') {
      open.length = data.nesting;
      open[data.nesting] = data.name;
    }
    if (type === 'test:pass' || type === 'test:fail') {
      open[data.nesting] = data.name;
      yield line({
        kind: 'result',
        path: open.slice(0, data.nesting + 1).map((name) => name ?? ''),
        file: data.file,
        entryFile: data.entryFile,
        suite: data.details?.type === 'suite',
        passed: type === 'test:pass',
        skipped: (data.skip !== undefined && data.skip !== false) || (data.todo !== undefined && data.todo !== false),
        error: type === 'test:fail' ? describe(data.details?.error) : undefined,
        stderr: type === 'test:fail' ? stderr.get(data.file) ?? stderr.get(data.name) : undefined,
      });
    }
  }
  yield JSON.stringify({ kind: 'end', proof: proof && proof.digest('hex') }) + '\n';
}
`;

export const nodeReporterUrl = `data:text/javascript;base64,${Buffer.from(source).toString('base64')}`;
