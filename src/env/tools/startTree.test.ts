import { chmod, cp, lstat, mkdir, readFile, readdir, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { runGit, TemporaryFolders } from '../fixtureRepository.testing.js';
import { ignoredIn, treeChanges } from '../workspace/treeChanges.js';
import type { Workspace } from '../workspace/workspace.js';
import { startTree, takeBack } from './startTree.js';

const temporary = new TemporaryFolders();
afterAll(() => temporary.remove());

const FILES = { '.gitignore': 'built/\n', 'a.js': 'a\n', 'b.js': 'b\n', 'lib/c.js': 'c\n', 'lib/d.js': 'd\n' };

/** A tree that began as those files, in which nothing can be run. */
async function workspace(): Promise<Workspace> {
  const folder = await temporary.folder();
  const [template, root] = ['template', 'tree'].map((name) => path.join(folder, name));
  for (const [file, text] of Object.entries(FILES)) {
    await mkdir(path.dirname(path.join(template, file)), { recursive: true });
    await writeFile(path.join(template, file), text, { mode: file === 'b.js' ? 0o755 : 0o644 });
  }
  await runGit(template, 'init', '--quiet');
  await cp(template, root, { recursive: true });
  const never = () => Promise.reject(new Error('internal: nothing is run here'));
  return {
    root,
    mountPath: root,
    sandbox: 'none',
    run: never,
    runTests: never,
    changes: () => treeChanges(template, root, []),
    ignored: (files) =>
      ignoredIn(
        template,
        files.filter((file) => !Object.hasOwn(FILES, file)),
      ),
    dispose: () => Promise.resolve(),
  };
}

async function textsIn(root: string): Promise<Record<string, string>> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)).split(path.sep).join('/'))
    .filter((file) => !file.startsWith('.git/'));
  return Object.fromEntries(
    await Promise.all(files.map(async (file) => [file, await readFile(path.join(root, file), 'utf8')] as const)),
  );
}

type Change = (root: string) => Promise<unknown>;
const changed: readonly (readonly [what: string, change: Change])[] = [
  [
    'changed, created and deleted files',
    async (root) => {
      await writeFile(path.join(root, 'a.js'), 'A\n');
      await writeFile(path.join(root, 'lib/new.js'), 'new\n');
      await rm(path.join(root, 'lib/d.js'));
    },
  ],
  ['a folder that was deleted', (root) => rm(path.join(root, 'lib'), { recursive: true })],
  [
    'a file that became a folder',
    async (root) => {
      await rm(path.join(root, 'a.js'));
      await mkdir(path.join(root, 'a.js/deep'), { recursive: true });
      await writeFile(path.join(root, 'a.js/deep/x.js'), 'x\n');
    },
  ],
  [
    'a folder that became a file',
    async (root) => {
      await rm(path.join(root, 'lib'), { recursive: true });
      await writeFile(path.join(root, 'lib'), 'lib\n');
    },
  ],
  [
    'a file that became a link',
    async (root) => {
      await rm(path.join(root, 'a.js'));
      await symlink(path.join(root, '../outside.js'), path.join(root, 'a.js'));
    },
  ],
  [
    'a folder that became a link',
    async (root) => {
      await rm(path.join(root, 'lib'), { recursive: true });
      await symlink('../outside', path.join(root, 'lib'));
    },
  ],
  [
    'a file that can be neither read nor written',
    async (root) => {
      await writeFile(path.join(root, 'a.js'), 'A\n');
      await chmod(path.join(root, 'a.js'), 0);
    },
  ],
];

describe.skipIf(process.platform === 'win32')('the tree that an episode began with', () => {
  it.each(changed)('is seen behind %s, and taken back to', async (_, change) => {
    const space = await workspace();
    const outside = path.join(space.root, '../outside');
    await mkdir(outside);
    await writeFile(path.join(outside, 'c.js'), 'outside\n');
    await writeFile(`${outside}.js`, 'outside\n');
    await change(space.root);
    const tree = startTree(space);
    expect(await tree.paths()).toEqual(Object.keys(FILES).sort());
    for (const [file, text] of Object.entries(FILES)) expect(await tree.read(file)).toBe(text);
    expect(await tree.read('lib/new.js')).toBeNull();
    await takeBack(space);
    expect(await textsIn(space.root)).toEqual(FILES);
    expect(await space.changes()).toEqual([]);
    expect(await textsIn(path.dirname(outside))).toMatchObject({
      'outside.js': 'outside\n',
      'outside/c.js': 'outside\n',
    });
  });

  it('has the programs that it had', async () => {
    const space = await workspace();
    await chmod(path.join(space.root, 'b.js'), 0o644);
    await chmod(path.join(space.root, 'a.js'), 0o755);
    await takeBack(space);
    const isProgram = async (file: string) => ((await lstat(path.join(space.root, file))).mode & 0o100) !== 0;
    expect([await isProgram('a.js'), await isProgram('b.js')]).toEqual([false, true]);
  });

  it('holds nothing that was built, which is left where it is, as are new links and what belongs to git', async () => {
    const space = await workspace();
    await mkdir(path.join(space.root, 'built'));
    await writeFile(path.join(space.root, 'built/a.js'), 'built\n');
    await symlink('a.js', path.join(space.root, 'link.js'));
    await writeFile(path.join(space.root, '.git/config'), 'mine\n');
    expect(await startTree(space).paths()).toEqual(Object.keys(FILES).sort());
    await takeBack(space);
    expect(await readFile(path.join(space.root, 'built/a.js'), 'utf8')).toBe('built\n');
    expect(await readlink(path.join(space.root, 'link.js'))).toBe('a.js');
    expect(await readFile(path.join(space.root, '.git/config'), 'utf8')).toBe('mine\n');
  });

  it('gives no text of what is none, and none from outside', async () => {
    const space = await workspace();
    await writeFile(path.join(space.root, 'built.bin'), Buffer.from([0xff, 0]));
    const { read } = startTree(space);
    for (const file of ['built.bin', '../outside.js', '/etc/hosts', '.git/config', 'lib', 'no\0name']) {
      expect(await read(file)).toBeNull();
    }
  });
});
