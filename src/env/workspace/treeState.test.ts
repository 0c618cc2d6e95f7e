import { chmod, cp, mkdir, mkdtemp, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { differingPaths, digestOf, treeState } from './treeState.js';

const folders: string[] = [];
afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

async function twoTrees(): Promise<{ template: string; tree: string }> {
  const base = await mkdtemp(path.join(tmpdir(), 'whetstone-state-'));
  folders.push(base);
  const [template, tree] = [path.join(base, 'template'), path.join(base, 'tree')];
  for (const [name, text] of [
    ['.gitignore', 'cache/\n*.pyc\n'],
    ['src/a.py', 'a = 1\n'],
    ['src/run.sh', 'true\n'],
    ['.git/HEAD', 'ref: refs/heads/main\n'],
  ]) {
    await mkdir(path.dirname(path.join(template, name)), { recursive: true });
    await writeFile(path.join(template, name), text);
  }
  await symlink('a.py', path.join(template, 'src/link.py'));
  await cp(template, tree, { recursive: true, verbatimSymlinks: true });
  return { template, tree };
}

/** Everything that can be done to a tree, by what it is. */
const deeds: Record<string, (tree: string) => Promise<unknown>> = {
  'another content of the same length': (tree) => writeFile(path.join(tree, 'src/a.py'), 'a = 2\n'),
  'another length': (tree) => writeFile(path.join(tree, 'src/a.py'), 'a = 10\n'),
  'a mode': (tree) => chmod(path.join(tree, 'src/run.sh'), 0o755),
  'a deleted file': (tree) => rm(path.join(tree, 'src/a.py')),
  'a new file': (tree) => writeFile(path.join(tree, 'src/b.py'), ''),
  'an ignored file': (tree) => writeFile(path.join(tree, 'src/a.pyc'), Buffer.from([0, 255, 1])),
  'an ignored file of other bytes': (tree) => writeFile(path.join(tree, 'src/a.pyc'), Buffer.from([0, 255, 2])),
  'an ignored file in a folder': (tree) =>
    mkdir(path.join(tree, 'cache')).then(() => writeFile(path.join(tree, 'cache/x'), '')),
  'an empty folder': (tree) => mkdir(path.join(tree, 'empty')),
  'a file where something is mounted': (tree) =>
    mkdir(path.join(tree, 'node_modules')).then(() => writeFile(path.join(tree, 'node_modules/x.js'), '')),
  'a link in place of a file': (tree) =>
    rm(path.join(tree, 'src/a.py')).then(() => symlink('run.sh', path.join(tree, 'src/a.py'))),
  'another target of a link': (tree) =>
    rm(path.join(tree, 'src/link.py')).then(() => symlink('run.sh', path.join(tree, 'src/link.py'))),
  'a file in place of a folder': (tree) =>
    rm(path.join(tree, 'src'), { recursive: true }).then(() => writeFile(path.join(tree, 'src'), '')),
  "git's own": (tree) => writeFile(path.join(tree, '.git/HEAD'), 'ref: refs/heads/other\n'),
};

const stateOf = ({ template, tree }: Awaited<ReturnType<typeof twoTrees>>) =>
  treeState(template, tree, ['node_modules']);

describe('the state of a tree', () => {
  it('is empty where nothing differs; times and empty places to mount do not count', async () => {
    const trees = await twoTrees();
    await utimes(path.join(trees.tree, 'src/a.py'), 1, 1);
    await mkdir(path.join(trees.tree, 'node_modules'));
    expect([...(await stateOf(trees))]).toEqual([]);
  });

  it('tells each deed from none and from every other', async () => {
    const digests = new Map<string, string>();
    for (const [name, deed] of Object.entries(deeds)) {
      const trees = await twoTrees();
      await deed(trees.tree);
      const [state, again] = [await stateOf(trees), await stateOf(trees)];
      expect(state.size, name).toBeGreaterThan(0);
      expect(differingPaths(state, again)).toEqual([]);
      digests.set(digestOf(state), name);
    }
    expect([...digests.values()]).toEqual(Object.keys(deeds));
  });

  it.runIf(process.platform === 'linux')('refuses to say anything where something cannot be looked at', async () => {
    const trees = await twoTrees();
    // A name that is no UTF-8.
    await writeFile(Buffer.concat([Buffer.from(`${trees.tree}/`), Buffer.from([0xff])]), '');
    await expect(stateOf(trees)).rejects.toThrow('cannot be looked at');
  });
});
