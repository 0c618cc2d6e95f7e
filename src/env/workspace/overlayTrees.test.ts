import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { chmod, lstat, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildJanitor, TemporaryFolders, writeFiles } from '../fixtureRepository.testing.js';
import { Janitor } from '../sandbox/janitorClient.js';
import { removeFolder } from '../sandbox/removeFolder.js';
import { OverlayTrees } from './overlayTrees.js';
import { treeChanges } from './treeChanges.js';
import { CopiedTrees, type TreeMaker, type WritableTree } from './treeMaker.js';

const temporary = new TemporaryFolders();
const janitor = new Janitor();
const makers: Record<string, TreeMaker> = { copies: new CopiedTrees() };
const overlays = await OverlayTrees.start(await temporary.folder(), janitor, () => Promise.resolve(true));
if (overlays) makers.overlays = overlays;

beforeAll(async () => janitor.start(await buildJanitor(await temporary.folder())));
afterAll(async () => {
  await overlays?.dispose();
  await janitor.stop();
  await temporary.remove();
});

describe.each(Object.keys(makers))('trees that are %s', (kind) => {
  const maker = makers[kind];
  let folder: string;
  let template: string;
  let tree: WritableTree;
  beforeAll(async () => {
    // What would end a mount's option, and what would be another layer of it.
    folder = await temporary.folder(`a, b:c \\ "d" 日本`);
    template = path.join(folder, 'template');
    await writeFiles(template, {
      'a.js': 'a\n',
      'gone.js': 'gone\n',
      'deep/one/b.js': 'b\n',
      'deep/two/c.js': 'c\n',
      'same/d.js': 'd\n',
      '.gitignore': 'ignored/\n',
    });
    execFileSync('git', ['init', '--quiet', template]);
    await symlink('a.js', path.join(template, 'link.js'));
    await mkdir(path.join(folder, 'place'));
    tree = await maker.make(template, path.join(folder, 'place'));
  });
  const inTree = (name: string) => path.join(tree.root, name);

  it('begin as the template', async () => {
    expect(readdirSync(tree.root).sort()).toEqual(readdirSync(template).sort());
    expect(await readFile(inTree('deep/one/b.js'), 'utf8')).toBe('b\n');
    expect((await lstat(inTree('link.js'))).isSymbolicLink()).toBe(true);
    expect(await treeChanges(template, tree.root, [], tree.differences)).toEqual([]);
  });

  it('take every kind of change, tell them, and leave the template as it was', async () => {
    await writeFile(inTree('a.js'), 'changed\n');
    await rm(inTree('gone.js'));
    await writeFile(inTree('new.js'), 'new\n');
    // A folder that is made anew under its old name hides what was in it.
    await rm(inTree('deep/one'), { recursive: true });
    await mkdir(inTree('deep/one'));
    await writeFile(inTree('deep/one/e.js'), 'e\n');
    await rm(inTree('deep/two'), { recursive: true });
    await writeFile(inTree('deep/two'), 'a file now\n');
    await rename(inTree('same/d.js'), inTree('same/moved.js'));
    await mkdir(inTree('ignored'));
    await writeFile(inTree('ignored/x.js'), 'x\n');
    await chmod(inTree('same'), 0o000);
    const changes = await treeChanges(template, tree.root, [], tree.differences);
    expect(changes.map(({ path: name, before, after }) => [name, before, after])).toEqual([
      ['a.js', 'a\n', 'changed\n'],
      ['deep/one/b.js', 'b\n', null],
      ['deep/one/e.js', null, 'e\n'],
      ['deep/two', null, 'a file now\n'],
      ['deep/two/c.js', 'c\n', null],
      ['gone.js', 'gone\n', null],
      ['new.js', null, 'new\n'],
      ['same/d.js', 'd\n', null],
      ['same/moved.js', null, 'd\n'],
    ]);
    expect(await readFile(path.join(template, 'a.js'), 'utf8')).toBe('a\n');
    expect(existsSync(path.join(template, 'gone.js'))).toBe(true);
  });

  it('are gone when they are released and their folder is deleted', async () => {
    expect(maker.isInUse(template)).toBe(kind === 'overlays');
    await tree.release();
    expect(maker.isInUse(template)).toBe(false);
    await removeFolder(path.join(folder, 'place'));
    expect(existsSync(path.join(folder, 'place'))).toBe(false);
    expect(await readFile(path.join(template, 'a.js'), 'utf8')).toBe('a\n');
  });
});

describe.runIf(overlays)('the holder of the overlays', () => {
  it('ends with who started it, and shows the trees to nobody else', async () => {
    const own = await OverlayTrees.start(await temporary.folder(), janitor, () => Promise.resolve(true));
    const folder = await temporary.folder();
    await writeFiles(path.join(folder, 'template'), { 'a.js': 'a\n' });
    await mkdir(path.join(folder, 'place'));
    const tree = await own!.make(path.join(folder, 'template'), path.join(folder, 'place'));
    expect(readdirSync(tree.root)).toEqual(['a.js']);
    expect(readdirSync(tree.worktree)).toEqual([]);
    await own!.dispose();
    expect(existsSync(tree.root)).toBe(false);
  });

  it('has no tree mounted any more once it is released, though a command is still at work in it', async () => {
    const folder = await temporary.folder();
    const own = await OverlayTrees.start(folder, janitor, () => Promise.resolve(true));
    await writeFiles(path.join(folder, 'template'), { 'a.js': 'a\n' });
    const trees = await Promise.all(
      ['one', 'other'].map(async (name) => {
        await mkdir(path.join(folder, name));
        return own!.make(path.join(folder, 'template'), path.join(folder, name));
      }),
    );
    const [one, other] = trees;
    const holder = /^\/proc\/\d+/.exec(one.root)![0];
    const mounted = async () => {
      const mounts = await readFile(path.join(holder, 'mountinfo'), 'utf8');
      return trees.map(({ worktree }) => mounts.includes(` ${worktree} `));
    };
    // In mounts of its own, as the sandbox's commands are.
    const [program, ...args] = [...one.enter, 'unshare', '--mount', '/bin/sh', '-c', 'cd "$0"; echo in; exec cat'];
    const command = spawn(program, [...args, one.worktree], { stdio: ['pipe', 'pipe', 'ignore'] });
    try {
      await once(command.stdout, 'data');
      expect(await mounted()).toEqual([true, true]);
      await one.release();
      expect(await mounted()).toEqual([false, true]);
      expect(readFileSync(`/proc/${command.pid}/mountinfo`, 'utf8')).not.toContain(` ${one.worktree} `);
      expect(existsSync(one.worktree)).toBe(false);
      expect(await readFile(path.join(other.root, 'a.js'), 'utf8')).toBe('a\n');
    } finally {
      const ended = once(command, 'exit');
      command.stdin.end();
      await ended;
      await own!.dispose();
    }
  });

  it('is not taken where the commands cannot reach its trees', async () => {
    const folder = await temporary.folder();
    expect(await OverlayTrees.start(folder, janitor, () => Promise.resolve(false))).toBeNull();
    expect(readdirSync(path.join(folder, 'worktrees'))).toEqual([]);
  });
});
