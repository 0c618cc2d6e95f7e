/**
 * A reporter for node:test that writes one JSON line per finished test, given to Node as a `data:` URL so that no file of
 * ours has to lie where the tests run. Lines: `{kind:'start', cwd, node}`, `{kind:'result', …}` and, only where the run came
 * to its end, `{kind:'end'}`. It imports builtin modules only and runs on Node 20 and newer.
 */
const source = String.raw`
import { inspect } from 'node:util';

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
  yield JSON.stringify({ kind: 'start', cwd: process.cwd(), node: process.version }) + '\n';
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
      yield JSON.stringify({
        kind: 'result',
        path: open.slice(0, data.nesting + 1).map((name) => name ?? ''),
        file: data.file,
        entryFile: data.entryFile,
        suite: data.details?.type === 'suite',
        passed: type === 'test:pass',
        skipped: (data.skip !== undefined && data.skip !== false) || (data.todo !== undefined && data.todo !== false),
        error: type === 'test:fail' ? describe(data.details?.error) : undefined,
        stderr: type === 'test:fail' ? stderr.get(data.file) ?? stderr.get(data.name) : undefined,
      }) + '\n';
    }
  }
  yield JSON.stringify({ kind: 'end' }) + '\n';
}
`;

export const nodeReporterUrl = `data:text/javascript;base64,${Buffer.from(source).toString('base64')}`;
