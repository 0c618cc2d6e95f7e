import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withoutOracle } from './withoutOracle.js';

const changeOf = (path: string, sound: string, broken: string) => ({
  path,
  before: `first\n  ${sound}\nlast\n`,
  after: `first\n  ${broken}\nlast\n`,
});

/** What the runners of the six languages print of a failure that reaches into the source. */
const MESSAGES: readonly [runner: string, path: string, message: string, shown: string][] = [
  ['node:test', 'src/range.js', 'boom\n    at range (file:///repo/src/range.js:3:9)\n', 'boom\n    at range (…)\n'],
  ['node:test', 'src/range.js', 'at test/range.test.js:7\nat src/range.js:3', 'at test/range.test.js:7\nat …'],
  [
    'Vitest',
    'src/range.ts',
    ' ❯ range src/range.ts:3:9\n ❯ test/range.test.ts:5:1',
    ' ❯ range …\n ❯ test/range.test.ts:5:1',
  ],
  ['pytest', 'demo/clamp.py', 'demo/clamp.py:5: TypeError\nE   TypeError', '…: TypeError\nE   TypeError'],
  ['pytest', 'demo/clamp.py', 'File "/repo/demo/clamp.py", line 5, in clamp', 'File "…, in clamp'],
  [
    'go test',
    'pkg/clamp.go',
    'panic\n\t/repo/pkg/clamp.go:5 +0x1d\nclamp_test.go:9: 2 != 3',
    'panic\n\t… +0x1d\nclamp_test.go:9: 2 != 3',
  ],
  ['go test', 'pkg/clamp.go', 'clamp.go:5: index out of range', '…: index out of range'],
  [
    'cargo test',
    'src/lib.rs',
    "thread 't' panicked at src/lib.rs:5:9:\nattempt to add",
    "thread 't' panicked at …:\nattempt to add",
  ],
  ['JUnit', 'src/main/java/a/Clamp.java', 'at a.Clamp.of(Clamp.java:5)', 'at a.Clamp.of(…)'],
  ['TypeScript', 'src/a.ts', 'src/a.ts(3,5): error', '…: error'],
  ['Windows', 'src/a.ts', 'in C:\\repo\\src\\a.ts:3:5', 'in …'],
];

describe('withoutOracle', () => {
  it.each(MESSAGES)('takes the place in the source out of what %s says of %s: %j', (_runner, path, message, shown) => {
    expect(withoutOracle(message, [changeOf(path, 'return x - 1', 'return x + 1')])).toBe(shown);
  });

  it('takes changed lines out, sound or broken', () => {
    const change = changeOf('demo/clamp.py', 'return x - 1', 'return x + 1');
    expect(withoutOracle('>       return x + 1\nE   assert', [change])).toBe('>       …\nE   assert');
    expect(withoutOracle('wanted: return x - 1', [change])).toBe('wanted: …');
  });

  it('leaves names of files and tests that only look alike', () => {
    const message = 'src/ranges.js:1 and range.js.map and test/range.test.js:3 and arrange.js:2';
    expect(withoutOracle(message, [changeOf('src/range.js', 'aaaaaa', 'bbbbbb')])).toBe(message);
  });

  it('never lets path or changed line through, wherever they stand', () => {
    const words = fc.array(
      fc.constantFrom('src/a b/é"x.js', 'a + bbb;', 'a - bbb;', ' ', '\n', ':', '7', '(', "'", '/r/'),
    );
    fc.assert(
      fc.property(words, (parts) => {
        const told = withoutOracle(parts.join(''), [changeOf('src/a b/é"x.js', 'a - bbb;', 'a + bbb;')]);
        for (const text of ['a + bbb;', 'a - bbb;']) expect(told).not.toContain(text);
      }),
    );
  });
});
