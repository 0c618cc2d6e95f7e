/** For tests only: real git repositories in temporary folders, and a digest that shows any change to one. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { lstat, mkdir, mkdtemp, readdir, readFile, readlink, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';

const run = promisify(execFile);

export const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', '-c', 'protocol.file.allow=always'];

export const runGit = async (folder: string, ...args: string[]) =>
  (await run('git', [...identity, ...args], { cwd: folder })).stdout.trim();

export type Files = Readonly<Record<string, string>>;

export async function writeFiles(folder: string, files: Files): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
    await writeFile(path.join(folder, name), text);
  }
}

/** Folders made in a test file, deleted together at its end. */
export class TemporaryFolders {
  private readonly made: string[] = [];

  async folder(name = 'plain'): Promise<string> {
    const outer = await realpath(await mkdtemp(path.join(tmpdir(), 'whetstone-test-')));
    this.made.push(outer);
    const inner = path.join(outer, name);
    await mkdir(inner);
    return inner;
  }

  /** A repository with one commit of `files`. */
  async repository(files: Files, name?: string): Promise<string> {
    const folder = await this.folder(name);
    await writeFiles(folder, files);
    await runGit(folder, 'init', '--quiet', '--initial-branch=main');
    await runGit(folder, 'add', '--all', '--force');
    await runGit(folder, 'commit', '--quiet', '--message=First');
    return folder;
  }

  async remove(): Promise<void> {
    for (const folder of this.made) await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** One line per file, link and folder (its kind, mode, content), `.git` included, `.whetstone` left out. */
export async function digest(folder: string): Promise<string[]> {
  const lines: string[] = [];
  const visit = async (relative: string): Promise<void> => {
    const found = await lstat(path.join(folder, relative));
    const mode = (found.mode & 0o777).toString(8);
    if (found.isSymbolicLink()) lines.push(`${relative} -> ${await readlink(path.join(folder, relative))}`);
    else if (found.isDirectory()) {
      lines.push(`${relative}/ ${mode}`);
      for (const name of (await readdir(path.join(folder, relative))).sort()) {
        if (name !== '.whetstone') await visit(path.join(relative, name));
      }
    } else {
      const content = createHash('sha256').update(await readFile(path.join(folder, relative)));
      lines.push(`${relative} ${mode} ${found.mtimeMs} ${content.digest('hex')}`);
    }
  };
  await visit('.');
  return lines;
}

/** Bundles the janitor as the build does. */
export async function buildJanitor(folder: string): Promise<string> {
  const outfile = path.join(folder, 'janitor.cjs');
  const entry = path.join(import.meta.dirname, 'sandbox', 'janitor.ts');
  await build({ entryPoints: [entry], outfile, bundle: true, platform: 'node', format: 'cjs', logLevel: 'warning' });
  return outfile;
}

export const nodeProject: Files = {
  'package.json': JSON.stringify({ name: 'demo', type: 'module', scripts: { test: 'node --test' } }),
  'src/clamp.js': 'export const clamp = (x, low, high) =>\n  Math.min(high, Math.max(low, x));\n',
  'test/clamp.test.js': [
    "import test from 'node:test';",
    "import assert from 'node:assert/strict';",
    "import { clamp } from '../src/clamp.js';",
    "test('clamps above', () => assert.equal(clamp(9, 0, 5), 5));",
    "test('keeps inside', () => assert.equal(clamp(3, 0, 5), 3));",
    '',
  ].join('\n'),
};

export const pythonProject: Files = {
  'demo/__init__.py': '',
  'demo/clamp.py': 'def clamp(x, low, high):\n    return min(high, max(low, x))\n',
  'tests/test_clamp.py': [
    'import pytest',
    'from demo.clamp import clamp',
    '',
    "@pytest.mark.parametrize('x,expected', [(9, 5), (3, 3)])",
    'def test_clamp(x, expected):',
    '    assert clamp(x, 0, 5) == expected',
    '',
  ].join('\n'),
};
