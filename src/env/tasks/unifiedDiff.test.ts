import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { applyUnifiedDiff } from '../reward/unifiedPatch.js';
import type { FileChange } from '../workspace/workspace.js';
import { unifiedDiff } from './unifiedDiff.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'whetstone-diff-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** The file after `git apply` of the change's diff; null where it is gone. */
function gitApply({ path, before, after }: FileChange): string | null {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  if (before !== null) writeFileSync(file, before);
  execFileSync('git', ['apply', '-'], { cwd: folder, input: unifiedDiff([{ path, before, after }]) });
  const result = existsSync(file) ? readFileSync(file, 'utf8') : null;
  rmSync(file, { force: true });
  return result;
}

describe('unifiedDiff', () => {
  it.each<[string, FileChange]>([
    ['a change', { path: 'a.js', before: 'a\nb\nc\n', after: 'a\nB\nc\n' }],
    ['no newline at the end', { path: 'a.js', before: 'a\nb', after: 'a\nc' }],
    ['a newline added at the end', { path: 'a.js', before: 'a', after: 'a\n' }],
    ['CRLF', { path: 'a.js', before: 'a\r\nb\r\nc\r\n', after: 'a\r\nc\r\n' }],
    ['a path with spaces, quotes and letters', { path: 'a b/"é漢" it\'s.js', before: '1\n', after: '2\n' }],
    ['a new file', { path: 'new/file.js', before: null, after: 'a\n' }],
    ['a deleted file', { path: 'old.js', before: 'a\n', after: null }],
    ['lone carriage returns and line separators', { path: 'a.js', before: 'a\rb\u2028c\n', after: 'a\rB\u2028c\n' }],
    ['lines that look like a diff', { path: 'a.js', before: '-- a\n++ b\n', after: '++ b\n@@ -1 +1 @@\n' }],
  ])('is applied by git: %s', (_name, change) => {
    expect(gitApply(change)).toBe(change.after);
  });

  it('is applied by git whatever the texts are', () => {
    const text = fc
      .array(fc.constantFrom('a', 'b', '\n', '\r\n', '😀', '-', '+', ' '), { maxLength: 30 })
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, text, (before, after) => {
        fc.pre(before !== after && before !== '' && after !== '');
        expect(gitApply({ path: 'x.js', before, after })).toBe(after);
      }),
      { numRuns: 40 },
    );
  });

  it.each<[string, FileChange, number]>([
    ['a new program', { path: 'run.sh', before: null, after: 'a\n', executable: true }, 0o100],
    ['a file that becomes a program', { path: 'run.sh', before: 'a\n', after: 'a\n', executable: true }, 0o100],
    ['a changed file that becomes one', { path: 'run.sh', before: 'a\n', after: 'b\n', executable: true }, 0o100],
    ['a new file', { path: 'run.sh', before: null, after: 'a\n' }, 0],
  ])('carries the mode to git and back: %s', async (_name, change, bit) => {
    const file = join(folder, change.path);
    if (change.before !== null) writeFileSync(file, change.before, { mode: 0o644 });
    const patch = unifiedDiff([change]);
    execFileSync('git', ['apply', '-'], { cwd: folder, input: patch });
    expect(statSync(file).mode & 0o100).toBe(bit);
    rmSync(file);
    expect(await applyUnifiedDiff(patch, () => Promise.resolve(change.before))).toEqual([change]);
  });

  it('is empty where nothing changed', () => {
    expect(unifiedDiff([{ path: 'a.js', before: 'a', after: 'a' }])).toBe('');
  });
});
