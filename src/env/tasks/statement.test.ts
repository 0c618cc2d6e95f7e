import { describe, expect, it } from 'vitest';
import { historyStatement, injectionStatement, shortMessage } from './statement.js';

const failure = (name: string, message = 'Expected values to be strictly equal:\n\n2 !== 3\n') => ({
  id: `test/range.test.js > ${name}`,
  message,
});

describe('injectionStatement', () => {
  it('says which tests fail and why, and nothing else', () => {
    expect(injectionStatement('library', [failure('ends before its end')], [])).toBe(
      'Tests fail in library. Find the bug in the source and fix it.\n' +
        'Failing: test/range.test.js > ends before its end\n' +
        '  Expected values to be strictly equal: 2 !== 3',
    );
  });

  it('shows three tests and counts the others', () => {
    const statement = injectionStatement(
      'library',
      ['a', 'b', 'c', 'd', 'e'].map((name) => failure(name, '')),
      [],
    );
    expect(statement.split('\n').slice(1)).toEqual([
      'Failing: test/range.test.js > a',
      'Failing: test/range.test.js > b',
      'Failing: test/range.test.js > c',
      '(+2 more)',
    ]);
  });
});

describe('the messages of an injected bug', () => {
  const change = {
    path: 'src/range.js',
    before: 'export function range(end) {\n  const last = end - 1;\n  return list(last);\n}\n',
    after: 'export function range(end) {\n  const last = end + 1;\n  return list(last);\n}\n',
  };
  const told = (message: string) => injectionStatement('library', [failure('a', message)], [change]);

  it('name neither the broken file nor a line of it', () => {
    const message = 'Error: too long in /repo/src/range.js:2:9, seen at src/range.js and test/range.test.js:7';
    expect(told(message)).toContain('Error: too long in …, seen at … and test/range.test.js:7');
  });

  it('show neither the broken line nor the sound one', () => {
    expect(told('> const last = end + 1; expected const last = end - 1;')).toContain('> … expected …');
  });
});

describe('shortMessage', () => {
  it('leaves the stack trace out', () => {
    expect(shortMessage('TypeError: x is null\n    at range (src/range.js:3:1)\n')).toBe('TypeError: x is null');
    expect(shortMessage('assert 1 == 2\n\nFile "a.py", line 3')).toBe('assert 1 == 2');
  });

  it('cuts between characters, never inside of one', () => {
    const short = shortMessage('😀'.repeat(200));
    expect([...short]).toHaveLength(140);
    expect(short.endsWith('😀…')).toBe(true);
  });
});

describe('historyStatement', () => {
  it('keeps what the commit set out to do and drops hashes, numbers, trailers and links', () => {
    const message =
      'Count from the end (#12)\n\nNegative indexes were refused since 0a1b2c3d.\nSee https://example.org/x\n\nFixes: #12\nSigned-off-by: A <a@example.org>\n';
    expect(historyStatement(message, [failure('a', '')])).toBe(
      'Count from the end\n\nNegative indexes were refused since .\n' +
        'Change the source so that the failing tests pass.\nFailing: test/range.test.js > a',
    );
  });

  it('does without a message', () => {
    expect(historyStatement('', [failure('a', '')])).toBe(
      'Change the source so that the failing tests pass.\nFailing: test/range.test.js > a',
    );
  });
});
