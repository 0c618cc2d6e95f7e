import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openRepository } from '../../repo/repository.js';
import { restoreTests } from '../../testing/cargoTest/restoreTests.js';
import { historyCandidates, type Considered } from './candidates.js';

let folder: string;
const git = (...args: string[]) => execFileSync('git', ['-C', folder, ...args], { encoding: 'utf8' });
function write(files: Record<string, string | Buffer>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
}
function commit(message: string, files: Record<string, string | Buffer> = {}): void {
  write(files);
  git('add', '-A');
  git('-c', 'user.name=A', '-c', 'user.email=a@example.org', 'commit', '-qm', message, '--allow-empty');
}
/** Rust's tests stand within sources. */
const tests = {
  isTestFile: (path: string) => path.endsWith('.test.js'),
  isMixed: (path: string) => path.endsWith('.rs'),
  restoreTests,
};
async function considered(limit = 100): Promise<Considered[]> {
  const repository = await openRepository(folder);
  const found: Considered[] = [];
  for await (const one of historyCandidates(repository, tests, limit)) found.push(one);
  return found;
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "whetstone history 'é"));
  git('init', '-q', '-b', 'main');
  // A user's settings that would change the form of a diff.
  git('config', 'diff.noprefix', 'true');
  git('config', 'diff.external', '/bin/false');
  git('config', 'color.ui', 'always');
  commit('Start', {
    'src/a.js': 'export const a = 1;\n',
    'test/a.test.js': '// 1\n',
    'package.json': '{"version": "1"}\n',
  });
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe('historyCandidates', () => {
  it('takes a commit that changes source and tests, and parts its patch', async () => {
    commit('Make a two', {
      'src/a.js': 'export const a = 2;\n',
      'test/a.test.js': '// 2\n',
      'README.md': 'Two.\n',
      'package.json': '{"version": "2"}\n',
    });
    const [first, root] = await considered();
    expect(root).toEqual({ skipped: 'root commit' });
    expect(first).toMatchObject({
      candidate: { message: 'Make a two\n', sourceFiles: ['src/a.js'], testFiles: ['test/a.test.js'] },
    });
    const { sourcePatch, testPatch, parent } = (first as Extract<Considered, { candidate: unknown }>).candidate;
    expect(sourcePatch).toContain('--- a/src/a.js\n+++ b/src/a.js\n');
    expect(sourcePatch).not.toContain('README');
    git('checkout', '-q', parent);
    execFileSync('git', ['-C', folder, 'apply', '-'], { input: testPatch + sourcePatch });
    expect(git('diff', '--stat', '--no-ext-diff', 'main', '--', 'src', 'test')).toBe('');
  });

  it('takes a commit whose tests stand within its source, and skips one that changes no test there', async () => {
    const source = (body: string, tested: string) =>
      `pub fn one() -> u32 {\n    ${body}\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn is_one() {\n        assert_eq!(${tested}, super::one());\n    }\n}\n`;
    commit('A crate', { 'src/lib.rs': source('2', '2') });
    commit('One is one', { 'src/lib.rs': source('1', '1') });
    commit('One is still one', { 'src/lib.rs': source('3 - 2', '1') });
    const [still, one] = await considered();
    expect(still).toEqual({ skipped: 'no test change' });
    expect(one).toMatchObject({ candidate: { sourceFiles: ['src/lib.rs'], testFiles: [], testPatch: '' } });
  });

  it('takes a test patch with a binary file, which git applies', async () => {
    const image = Buffer.from([0, 1, 2, 255]);
    commit('Image', { 'src/a.js': 'export const a = 2;\n', 'test/x.bin': image });
    const [first] = await considered();
    const { testPatch, parent } = (first as Extract<Considered, { candidate: unknown }>).candidate;
    git('checkout', '-q', parent);
    execFileSync('git', ['-C', folder, 'apply', '-'], { input: testPatch });
    expect(readFileSync(join(folder, 'test/x.bin')).equals(image)).toBe(true);
  });

  it('takes a change of white space that is meaning', async () => {
    commit('Start', { 'src/a.py': 'if a:\n    b()\n    c()\n' });
    commit('Indent', { 'src/a.py': 'if a:\n    b()\nc()\n', 'test/a.test.js': '// 3\n' });
    expect((await considered())[0]).toHaveProperty('candidate');
  });

  it.each<[string, () => void]>([
    ['revert', () => commit('Revert "Start"', { 'src/a.js': 'export const a = 3;\n' })],
    ['empty', () => commit('Nothing')],
    ['no source change', () => commit('Tests', { 'test/a.test.js': '// 3\n' })],
    ['no test change', () => commit('Source', { 'src/a.js': 'export const a = 3;\n' })],
    [
      'only vendored, generated or configuration code',
      () => commit('Vendored', { 'vendor/x.js': '1\n', 'test/a.test.js': '// 3\n' }),
    ],
    [
      'only vendored, generated or configuration code',
      () => commit('Generated', { 'src/g.js': '// Generated by x. DO NOT EDIT.\n', 'test/a.test.js': '// 3\n' }),
    ],
    ['no source change', () => commit('Notes', { 'README.md': '1\n', 'test/a.test.js': '// 3\n' })],
    [
      'formatting only',
      () => commit('Comment', { 'src/a.js': '/* One. */ export const a = 1; // !\n', 'test/a.test.js': '// 3\n' }),
    ],
    [
      'symbolic link changed',
      () => {
        symlinkSync('a.js', join(folder, 'src/link.js'));
        commit('Link', { 'src/a.js': 'export const a = 3;\n', 'test/a.test.js': '// 3\n' });
      },
    ],
    [
      'large files (LFS)',
      () =>
        commit('Pointer', {
          'src/a.js': 'export const a = 3;\n',
          'test/data': 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n',
        }),
    ],
    [
      'formatting only',
      () => commit('Format', { 'src/a.js': '\n  export  const a =  1;\n', 'test/a.test.js': '// 3\n' }),
    ],
    ['binary source', () => commit('Binary', { 'src/a.js': Buffer.from([0, 1, 2]), 'test/a.test.js': '// 3\n' })],
    [
      'not UTF-8',
      () => commit('Latin', { 'src/a.js': Buffer.from([0x2f, 0x2f, 0xe9, 0x0a]), 'test/a.test.js': '// 3\n' }),
    ],
    ['too large', () => commit('Long', { 'src/a.js': 'a();\n'.repeat(500), 'test/a.test.js': '// 3\n' })],
    [
      'too large',
      () =>
        commit('Wide', {
          ...Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`src/${index}.js`, '1\n'])),
          'test/a.test.js': '// 3\n',
        }),
    ],
    [
      'dependencies changed',
      () =>
        commit('Dependency', {
          'src/a.js': 'export const a = 3;\n',
          'test/a.test.js': '// 3\n',
          'package.json': '{"version": "1", "dependencies": {"b": "1"}}\n',
        }),
    ],
    [
      'renames only',
      () => {
        renameSync(join(folder, 'src/a.js'), join(folder, 'src/b.js'));
        commit('Rename');
      },
    ],
    [
      'mode only',
      () => {
        chmodSync(join(folder, 'src/a.js'), 0o755);
        commit('Mode');
      },
    ],
    [
      'merge',
      () => {
        git('checkout', '-qb', 'side');
        commit('Side', { 'src/side.js': '1\n' });
        git('checkout', '-q', 'main');
        commit('Main', { 'src/main.js': '1\n' });
        git('-c', 'user.name=A', '-c', 'user.email=a@example.org', 'merge', '-q', '--no-ff', '-m', 'Merge', 'side');
      },
    ],
  ])('skips with its reason: %s', async (reason, make) => {
    make();
    expect((await considered())[0]).toEqual({ skipped: reason });
  });

  it('stops at the boundary of a shallow clone and at the limit', async () => {
    commit('Two', { 'src/a.js': 'export const a = 2;\n', 'test/a.test.js': '// 2\n' });
    commit('Three', { 'src/a.js': 'export const a = 3;\n', 'test/a.test.js': '// 3\n' });
    expect(await considered(1)).toHaveLength(1);
    const whole = folder;
    folder = mkdtempSync(join(tmpdir(), 'whetstone-shallow-'));
    try {
      execFileSync('git', ['clone', '-q', '--depth', '2', `file://${whole}`, folder]);
      const found = await considered();
      expect(found.map((one) => ('skipped' in one ? one.skipped : 'candidate'))).toEqual([
        'candidate',
        'shallow boundary',
      ]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
      folder = whole;
    }
  });
});
