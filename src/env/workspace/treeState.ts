import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, readdir, readlink } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';

/** What differs from the template, by path (with `/`; a folder's ends with one): its kind, mode and content. */
export type TreeState = ReadonlyMap<string, string>;

/**
 * All in which a tree differs from its template: unlike `treeChanges` also what git ignores, what is no text, links, empty
 * folders, modes and `.git`. Times of change do not count.
 * Throws where something cannot be read.
 * @param mountPoints folders that a sandbox makes to mount something on; empty, they do not count
 * @param differences a folder in which everything lies that may differ, where there is one: only that is read then
 */
export async function treeState(
  template: string,
  tree: string,
  mountPoints: readonly string[],
  differences: string | null = null,
): Promise<TreeState> {
  const state = new Map<string, string>();
  const visit = async (folder: string): Promise<void> => {
    const [before, after] = await Promise.all([kindsIn(path.join(template, folder)), kindsIn(path.join(tree, folder))]);
    const touched = differences === null ? null : await kindsIn(path.join(differences, folder));
    for (const name of [...new Set([...before.keys(), ...after.keys()])].sort()) {
      if (touched && !touched.has(name) && before.get(name) === after.get(name)) continue;
      const relative = folder === '' ? name : `${folder}/${name}`;
      const [old, now] = await describeBoth(path.join(template, relative), path.join(tree, relative));
      const isFolder = after.get(name) === 'folder';
      if (isFolder && old === null && mountPoints.includes(relative)) {
        if ((await readdir(path.join(tree, relative))).length === 0) continue;
      }
      if (old !== now) state.set(isFolder ? `${relative}/` : relative, now ?? 'absent');
      if (isFolder || before.get(name) === 'folder') await visit(relative);
    }
  };
  await visit('');
  return state;
}

/** Paths at which two states of one tree are not the same. */
export const differingPaths = (one: TreeState, other: TreeState): string[] =>
  [...new Set([...one.keys(), ...other.keys()])].filter((name) => one.get(name) !== other.get(name));

export const digestOf = (state: TreeState): string =>
  createHash('sha256')
    .update(JSON.stringify([...state].sort(([a], [b]) => (a < b ? -1 : 1))))
    .digest('hex');

async function kindsIn(folder: string): Promise<Map<string, 'folder' | 'other'>> {
  const found = await lstat(folder).catch(() => null);
  if (!found?.isDirectory()) return new Map();
  const entries = await readdir(folder, { withFileTypes: true });
  // A name that is no text comes out with this in it, and leads nowhere.
  const strange = entries.find(({ name }) => name.includes('\ufffd'));
  if (strange) throw new Error(`internal: ${path.join(folder, strange.name)} cannot be looked at.`);
  return new Map(entries.map((entry) => [entry.name, entry.isDirectory() ? 'folder' : 'other']));
}

/** Of two files of other sizes or modes only the second's content is read: that they differ is known. */
async function describeBoth(before: string, after: string): Promise<[string | null, string | null]> {
  const [old, now] = await Promise.all([before, after].map((name) => lstat(name).catch(missing)));
  if (old?.isFile() && now?.isFile() && (old.size !== now.size || old.mode !== now.mode)) {
    return ['another file', await describe(after, now)];
  }
  return [old && (await describe(before, old)), now && (await describe(after, now))];
}

async function describe(name: string, found: Awaited<ReturnType<typeof lstat>>): Promise<string> {
  const mode = (Number(found.mode) & 0o7777).toString(8);
  if (found.isSymbolicLink()) return `link ${await readlink(name)}`;
  if (found.isDirectory()) return `folder ${mode}`;
  if (!found.isFile()) return `other ${Number(found.mode)} ${Number(found.rdev)}`;
  const hash = createHash('sha256');
  await pipeline(createReadStream(name), hash);
  return `file ${mode} ${hash.digest('hex')}`;
}

/** Only what is not there is told as missing: what cannot be read must not look as if it were not there. */
function missing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
  throw error;
}
