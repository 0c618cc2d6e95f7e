import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutLine, cutMiddle, finishObservation, normalizeOutput, plainText } from './normalize.js';

const now = Date.parse('2026-11-29T16:53:00Z');
const normalize = (text: string, ...roots: string[]) => normalizeOutput(text, { roots, now });

describe('plain text', () => {
  it('has no colours, links, control characters, CRLF or lone surrogates', () => {
    expect(
      plainText(
        '\u001B[1;31mred\u001B[0m \u001B]8;;http://x\u0007link\u001B]8;;\u001B\\\r\nb\u0000\u0008c\ttab\rnext \uD800\n\n',
      ),
    ).toBe('red link\nbc\ttab\nnext \uFFFD');
  });
  it('is as it was after a second time', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(plainText(plainText(text))).toBe(plainText(text));
      }),
    );
  });
});

describe('normalized output', () => {
  it.each([
    ['1 passed in 0.02s', '1 passed in <duration>'],
    ['ok (12ms), 3 s, 1.5 seconds, 250 µs', 'ok (<duration>), <duration>, <duration>, <duration>'],
    ['  duration_ms: 12.345', '  duration_ms <duration>'],
    ['<A object at 0x7f3a2b4c>', '<A object at <address>>'],
    ['ptr 0x55d0c8a3f2b0 mask 0xff00ff00', 'ptr <address> mask 0xff00ff00'],
    ['(node:4242) Warning', '(node:<pid>) Warning'],
    ['pid 77, PID: 78', 'pid <pid>, PID: <pid>'],
    ['/tmp/whetstone-x8f/a.js:3 and /private/var/folders/ab/cd/T/y/z', '<tmp>/a.js:3 and <tmp>/z'],
    ['at 2026-11-29T16:52:59.123Z [16:52:58]', 'at <date> [<time>]'],
    ['Sun Nov 29 17:18:34 CET 2026; Sun Nov 29 16:18:34 2026', '<date>; <date>'],
    ['Date: Sun, 29 Nov 2026 16:18:34 GMT', 'Date: <date>'],
    ['-rw-r--r-- 1 u u 12 Nov 29 17:18 a.js', '-rw-r--r-- 1 u u 12 <date> a.js'],
    ['at 1795971180123 or 1795971180', 'at <date> or <date>'],
    ['log 2026-11-29 16:52:59,123 +0100 x', 'log <date> x'],
    ['id 123e4567-e89b-12d3-a456-426614174000', 'id <uuid>'],
  ])('%j becomes %j', (raw, wanted) => {
    expect(normalize(raw)).toBe(wanted);
  });

  it('leaves dates and times alone that are data and not the clock', () => {
    const text =
      'expected 2018-05-04T10:00:00Z but got 2018-05-05, at 03:04:05, 1234567890, Mar 3 2018, -rw Mar  3 10:10';
    expect(normalize(text)).toBe(text);
  });

  it('leaves names and numbers alone that only look like durations', () => {
    for (const text of ['5 passed', 'utils2s.js', 'v1.2s3', '3 tests', 'size 10', 'x1ms2'])
      expect(normalize(text)).toBe(text);
  });

  it('shows the tree as relative paths and its root as a dot', () => {
    const root = "/home/u/mé repo's";
    expect(normalize(`${root}/src/a.js:3:1\n${root}\n${root}/\n(${root})\nfile://${encodeURI(root)}/b.js`, root)).toBe(
      'src/a.js:3:1\n.\n.\n(.)\nb.js',
    );
    expect(normalize('C:\\Users\\u\\repo\\src\\a.js', 'C:\\Users\\u\\repo')).toBe('src\\a.js');
  });

  it('does not take a sibling whose name begins alike for the tree', () => {
    expect(normalize('/home/u/repo-2/a.js /home/u/repository', '/home/u/repo')).toBe(
      '/home/u/repo-2/a.js /home/u/repository',
    );
  });

  it('handles a root inside the temporary folder, also where it lies inside another root', () => {
    expect(normalize('/tmp/t-1/tree/a.js /tmp/t-1/x', '/tmp/t-1', '/tmp/t-1/tree')).toBe('a.js x');
  });
});

describe('cutting', () => {
  it('keeps both ends, says how much is gone, and holds the budget', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 400 }),
        fc.integer({ min: 60, max: 300 }),
        (text, budget) => {
          const points = Array.from(text);
          const cut = cutMiddle(text, budget);
          if (points.length <= budget) expect(cut).toBe(text);
          else {
            expect(Array.from(cut).length).toBeLessThanOrEqual(budget);
            const [head, tail] = cut.split(/\n\.\.\. \d+ characters cut \.\.\.\n/);
            const gone = Number(/\n\.\.\. (\d+) characters cut/.exec(cut)![1]);
            expect(text.startsWith(head) && text.endsWith(tail)).toBe(true);
            expect(Array.from(head + tail).length + gone).toBe(points.length);
          }
        },
      ),
    );
  });
  it('never splits a code point', () => {
    expect(cutLine('\u{1F600}'.repeat(5), 2)).toBe('\u{1F600}\u{1F600} ... 3 characters cut');
  });
  it('never gives an empty observation', () => {
    expect(finishObservation(' \n\u001B[0m', 100)).toBe('(no output)');
  });
});
