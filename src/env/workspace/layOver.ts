import { chmod, lstat, mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { infrastructure } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';
import { removeFolder } from '../sandbox/removeFolder.js';
import type { FileChange } from './workspace.js';

/** Makes a file of a tree what a change says, whatever stands in its place or in that of its folders: no link is followed. */
export async function layOver(
  root: string,
  { path: name, after, executable }: Omit<FileChange, 'before'>,
): Promise<void> {
  const target = path.join(root, ...name.split('/'));
  const relative = path.relative(root, target);
  if (relative.startsWith('..') || path.isAbsolute(relative) || /(^|\/)\.git(\/|$)/.test(name)) {
    throw infrastructure(say`internal: a change names ${name}, which lies outside of the tree.`, '');
  }
  await clearWay(root, path.dirname(target));
  const before = await lstat(target).catch(() => null);
  await removeFolder(target);
  if (after === null) return;
  await mkdir(path.dirname(target), { recursive: true });
  await writeFile(target, after);
  // A program stays a program, unless the change says otherwise.
  const mode = before?.isFile() ? before.mode & 0o777 : 0o644;
  if (executable === undefined && !before?.isFile()) return;
  await chmod(target, executable === undefined ? mode : executable ? mode | 0o111 : mode & ~0o111);
}

/** Removes what stands where a folder must be: through a link that the repository holds, a file would land elsewhere. */
async function clearWay(root: string, folder: string): Promise<void> {
  if (folder === root) return;
  await clearWay(root, path.dirname(folder));
  const found = await lstat(folder).catch(() => null);
  if (found && !found.isDirectory()) await rm(folder);
}
