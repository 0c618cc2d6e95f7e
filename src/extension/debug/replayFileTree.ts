import type { Place, Snapshots } from './snapshots.js';

export type Change = 'added' | 'removed' | 'changed';

/** A file or a folder of the worktree as it was at a turn. */
export type ReplayFileNode = FileNode | FolderNode;
export interface FileNode {
  readonly kind: 'file';
  readonly name: string;
  /** Relative to the repository's root, with `/`. */
  readonly path: string;
  /** Against the start tree; absent where the file is as it was. */
  readonly change?: Change;
}
export interface FolderNode {
  readonly kind: 'folder';
  readonly name: string;
  readonly path: string;
  /** Folders first, then files, each by name. */
  readonly children: readonly ReplayFileNode[];
  /** Changed files in it, at any depth. */
  readonly changes: number;
}

interface Building {
  readonly folders: Map<string, Building>;
  readonly files: FileNode[];
}

/** The worktree at a place; files that were removed by then are in it too, and say so. */
export function fileTree(snapshots: Pick<Snapshots, 'files' | 'changes'>, place: Place): FolderNode {
  const changes = new Map(
    snapshots.changes(place).map(({ path, before, after }): [string, Change] => {
      return [path, before === null ? 'added' : after === null ? 'removed' : 'changed'];
    }),
  );
  const root: Building = { folders: new Map(), files: [] };
  for (const path of new Set([...snapshots.files(place), ...changes.keys()])) {
    const parts = path.split('/');
    const name = parts.pop() ?? path;
    let at = root;
    for (const part of parts) {
      const next = at.folders.get(part) ?? { folders: new Map(), files: [] };
      at.folders.set(part, next);
      at = next;
    }
    at.files.push({ kind: 'file', name, path, change: changes.get(path) });
  }
  return folderOf('', '', root);
}

function folderOf(name: string, path: string, { folders, files }: Building): FolderNode {
  const inner = [...folders]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([child, building]) => folderOf(child, path === '' ? child : `${path}/${child}`, building));
  const sorted = [...files].sort((a, b) => (a.name < b.name ? -1 : 1));
  const changes = sorted.filter(({ change }) => change).length + inner.reduce((sum, folder) => sum + folder.changes, 0);
  return { kind: 'folder', name, path, children: [...inner, ...sorted], changes };
}
