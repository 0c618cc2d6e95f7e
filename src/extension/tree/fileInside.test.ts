import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyPath } from '../paths.testing.js';
import { fileInside } from './fileInside.js';

const roots = [
  [path.posix, "/home/it's/100% #2/répö"],
  [path.win32, 'C:\\Users\\Zoë 中\\#1 50%'],
  [path.win32, '\\\\server\\share\\a repo'],
] as const;

describe('a file that a policy names', () => {
  it('is never looked for outside of the repository, whatever its path is made of', () => {
    for (const [flavour, root] of roots) {
      fc.assert(
        fc.property(anyPath, (file) => {
          const found = fileInside(root, file, flavour);
          if (found !== undefined) expect(found.startsWith(`${root}${flavour.sep}`)).toBe(true);
        }),
        { numRuns: 500 },
      );
    }
  });

  it.each([
    ['src/sum.js', '/r/src/sum.js'],
    ['./a/../b.js', '/r/b.js'],
    ['..b.js', '/r/..b.js'],
    ['.../x', '/r/.../x'],
    ['a b#1 50%.ts', '/r/a b#1 50%.ts'],
    ['/r/src/sum.js', '/r/src/sum.js'],
  ])('is found inside of it: %s', (file, found) => expect(fileInside('/r', file, path.posix)).toBe(found));

  it.each([
    [path.posix, '/r', '../x'],
    [path.posix, '/r', '..'],
    [path.posix, '/r', ''],
    [path.posix, '/r', '/etc/passwd'],
    [path.posix, '/r', 'a/../../r2/x'],
    [path.win32, 'C:\\r', 'D:x'],
    [path.win32, 'C:\\r', '\\\\server\\share\\x'],
    [path.win32, 'C:\\r', '\\x'],
    [path.win32, 'C:\\r', '..\\r2\\x'],
    [path.win32, '\\\\server\\share\\r', 'C:\\x'],
  ])('is refused outside of it', (flavour, root, file) => expect(fileInside(root, file, flavour)).toBeUndefined());
});
