import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { parseJestResults, shortMessage } from './jestResults.js';

const context = { tree: '/repo', isTestFile: (file: string) => file.startsWith('test/') };
const line = (fields: object) =>
  JSON.stringify({
    kind: 'result',
    path: ['a'],
    file: '/repo/test/a.js',
    entryFile: '/repo/test/a.js',
    passed: true,
    skipped: false,
    ...fields,
  });
const document = (...lines: string[]) => [...lines, ''].join('\n');
const start = '{"kind":"start"}';
const end = '{"kind":"end"}';
const ids = (text: string) => parseJestResults(text, context)?.map(({ id }) => id) ?? null;

describe("Jest's results", () => {
  it('have the file in the name of a test that a source made, and not in one of a helper of the tests', () => {
    const files = ['/repo/test/a.js', 'file:///repo/test/helper.js', '/repo/src/a.js', ''];
    expect(ids(document(start, ...files.map((file) => line({ file })), end))).toEqual([
      'test/a.js > a',
      'test/a.js > a #2',
      'test/a.js > src/a.js > a',
      'test/a.js > elsewhere > a',
    ]);
  });

  it('are nothing wherever they are cut off, and empty where nothing was to be run', () => {
    const text = document(start, line({}), end);
    expect(ids(text)).toHaveLength(1);
    expect([...text].map((_, length) => ids(text.slice(0, length))).filter((found) => found !== null)).toEqual([]);
    expect(ids(document(start, end))).toEqual([]);
    expect(ids(document(start, '{"kind":"result"}', end))).toBeNull();
  });

  it('count with a proof by the key only, where there is a key', () => {
    const before = document(start, line({}));
    const proof = createHmac('sha256', 'key').update(before).digest('hex');
    const proven = `${before}${JSON.stringify({ kind: 'end', proof })}\n`;
    expect(parseJestResults(proven, { ...context, key: 'key' })).toHaveLength(1);
    expect(parseJestResults(proven, { ...context, key: 'another' })).toBeNull();
    expect(parseJestResults(proven.replace('true', 'false'), { ...context, key: 'key' })).toBeNull();
    expect(parseJestResults(document(start, line({}), end), { ...context, key: 'key' })).toBeNull();
  });
});

describe('the message of a failed assertion', () => {
  it('has both values, or of a difference only the lines that differ', () => {
    const hint = 'expect(received).toEqual(expected) // deep equality';
    expect(shortMessage(`\u001b[2m${hint}\u001b[22m\n\nExpected: 1\nReceived: 2`)).toBe(
      `${hint}\nExpected: 1\nReceived: 2`,
    );
    const legend = '- Expected  - 1\n+ Received  + 10';
    const drawn = `${hint}\n\n${legend}\n\n  Object {\n-   "a": 1,\n+   "a": 2,\n    "b": 3,\n  }`;
    expect(shortMessage(drawn)).toBe(`${hint}\n- "a": 1,\n+ "a": 2,`);
  });
});
