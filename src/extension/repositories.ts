import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';

/** A git repository within reach of the window. */
export interface Repository {
  readonly root: string;
  readonly name: string;
  /** `.whetstone/` of the repository. */
  readonly stateFolder: string;
}

/** Folders that hold other people's repositories, or too much to look through. */
const skipped = new Set(['node_modules', 'vendor', 'dist', 'build', 'out', 'target']);
const searchDepth = 3;

const isRepository = (folder: string) => existsSync(path.join(folder, '.git'));

function repository(root: string): Repository {
  return { root, name: path.basename(root), stateFolder: path.join(root, '.whetstone') };
}

/**
 * The repositories of an opened folder: the one that it is or lies in, else those in its subfolders. Starts no process
 * and follows no link.
 */
export async function findRepositories(folder: string): Promise<Repository[]> {
  for (let at = folder; ; at = path.dirname(at)) {
    if (isRepository(at)) return [repository(at)];
    if (at === path.dirname(at)) break;
  }
  return repositoriesBelow(folder, searchDepth);
}

async function repositoriesBelow(folder: string, depth: number): Promise<Repository[]> {
  if (depth === 0) return [];
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const folders = entries
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.') && !skipped.has(entry.name))
    .map((entry) => path.join(folder, entry.name))
    .sort();
  const found = await Promise.all(
    folders.map((child) => (isRepository(child) ? [repository(child)] : repositoriesBelow(child, depth - 1))),
  );
  return found.flat();
}
