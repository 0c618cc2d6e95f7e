import { createPatch } from 'diff';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { unifiedDiff } from '../tasks/unifiedDiff.js';
import { applyUnifiedDiff, FormatError } from './unifiedPatch.js';

const apply = (patch: string, files: Record<string, string>) =>
  applyUnifiedDiff(patch, (path) => Promise.resolve(files[path] ?? null));
const hunk = '@@ -1 +1 @@\n-a\n+b\n';

describe('applying a unified diff', () => {
  it('gives back what a diff was made of', async () => {
    const text = fc.array(fc.constantFrom('a', 'b', '', '-- x', '++ y', '@@ -1 +1 @@', 'é\u{1F600}', '\\ no'), {
      maxLength: 12,
    });
    const ending = fc.constantFrom('', '\n');
    await fc.assert(
      fc.asyncProperty(text, ending, text, ending, async (linesBefore, endBefore, linesAfter, endAfter) => {
        const before = linesBefore.join('\n') + endBefore;
        const after = linesAfter.join('\n') + endAfter;
        const wanted = before === after ? [] : [{ path: 'f x', before, after }];
        expect(await apply(unifiedDiff([{ path: 'f x', before, after }]), { 'f x': before })).toEqual(wanted);
      }),
    );
  });

  it('reads names with and without prefixes, timestamps, quotes and `.orig`', async () => {
    const change = (path: string) => [{ path, before: 'a\n', after: 'b\n' }];
    expect(await apply(`--- a/x\n+++ b/x\n${hunk}`, { x: 'a\n' })).toEqual(change('x'));
    expect(await apply(`--- ./x\t2026-01-01\n+++ ./x\t2026-01-02\n${hunk}`, { x: 'a\n' })).toEqual(change('x'));
    expect(await apply(`--- a/x\n+++ a/x\n${hunk}`, { 'a/x': 'a\n' })).toEqual(change('a/x'));
    expect(await apply(`--- x.orig\n+++ x\n${hunk}`, { x: 'a\n' })).toEqual(change('x'));
    expect(await apply(`--- "a/\\303\\251"\n+++ "b/\\303\\251"\n${hunk}`, { é: 'a\n' })).toEqual(change('é'));
    expect(await apply(createPatch('x', 'a\n', 'b\n'), { x: 'a\n' })).toEqual(change('x'));
  });

  it('fits a patch with line feeds to a file with CRLF', async () => {
    expect(await apply(`--- a/x\n+++ b/x\n${hunk}`, { x: 'a\r\n' })).toEqual([
      { path: 'x', before: 'a\r\n', after: 'b\r\n' },
    ]);
  });

  it('takes two parts for one file one after the other', async () => {
    const twice = `--- a/x\n+++ b/x\n${hunk}--- a/x\n+++ b/x\n@@ -1 +1 @@\n-b\n+c\n`;
    expect(await apply(twice, { x: 'a\n' })).toEqual([{ path: 'x', before: 'a\n', after: 'c\n' }]);
  });

  it.each([
    ['prose', 'replace a by b'],
    ['no names', hunk],
    ['one name', `--- a/x\n${hunk}`],
    ['a hunk without numbers', '--- a/x\n+++ b/x\n@@ here @@\n-a\n+b\n'],
    ['wrong counts', '--- a/x\n+++ b/x\n@@ -1,3 +1 @@\n-a\n+b\n'],
    ['another text', '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-q\n+b\n'],
    ['a missing file', `--- a/y\n+++ b/y\n${hunk}`],
    ['a file that exists already', '--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+b\n'],
    ['a deletion of something else', '--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-q\n'],
    ['a way out', `--- a/../x\n+++ b/../x\n${hunk}`],
    ['an absolute path', `--- /x\n+++ /x\n${hunk}`],
    ['a binary file', 'diff --git a/x b/x\nindex 1..2 100644\nBinary files a/x and b/x differ\n'],
    ['too much', `--- a/x\n+++ b/x\n${hunk}${' '.repeat(1024 * 1024)}`],
  ])('refuses %s', async (_name, patch) => {
    await expect(apply(patch, { x: 'a\n', '../x': 'a\n', '/x': 'a\n' })).rejects.toThrow(FormatError);
  });
});
