import type { StartTree } from '../suspects/findSuspects.js';
import { layOver } from '../workspace/layOver.js';
import type { FileChange, Workspace } from '../workspace/workspace.js';
import { filePaths } from './textFiles.js';
import { readTextFile, resolveInTree } from './treeFiles.js';

/** The tree as it was when the episode began, as far as its changes tell. */
export function startTree(workspace: Workspace): StartTree {
  const changes = once(async () => new Map((await workspace.changes()).map((change) => [change.path, change])));
  return {
    paths: async () => {
      const changed = await changes();
      const found = await treeAt(workspace.root).paths();
      const built = await workspace.ignored(found);
      const there = found.filter((path) => !built.has(path) && changed.get(path)?.before !== null);
      const deleted = [...changed.values()].flatMap(({ path, before, after }) =>
        after === null && before !== null ? [path] : [],
      );
      return [...new Set([...there, ...deleted])].sort();
    },
    read: async (path) => {
      const change = (await changes()).get(path);
      return change === undefined ? treeAt(workspace.root).read(path) : change.before;
    },
  };
}

/** A tree as it lies in a folder of this machine. */
export const treeAt = (root: string): StartTree => ({
  paths: () => filePaths({ path: '.', absolute: root, kind: 'folder' }),
  read: async (path) => {
    const place = await resolveInTree({ root, mountPath: root }, path);
    const file = 'problem' in place ? place : await readTextFile(place);
    return 'problem' in file ? null : file.text;
  },
});

/** Takes back what the episode changed, as far as its changes tell: first what is new, which may stand in the way of what was. */
export async function takeBack(workspace: Workspace): Promise<void> {
  const changes = await workspace.changes();
  const isNew = ({ before }: FileChange) => before === null;
  for (const { path, before, executable } of [...changes.filter(isNew), ...changes.filter((one) => !isNew(one))]) {
    await layOver(workspace.root, {
      path,
      after: before,
      ...(executable === undefined ? {} : { executable: !executable }),
    });
  }
}

function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined;
  return () => (made ??= make());
}
