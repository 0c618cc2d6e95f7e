import { lstat, readdir, readFile } from 'node:fs/promises';
import * as path from 'node:path';
import { decodeText, MAX_TEXT_BYTES, type Place } from './treeFiles.js';

/** Folders that hold no source of the repository's own. */
const SKIPPED_FOLDERS = new Set(['.git', 'node_modules', '__pycache__', '.pytest_cache', '.venv', '.tox']);
/** A walk ends here, so that a tree of any size is searched in bounded time. */
const MAX_FILES = 20_000;

/** Text files at or under `place`, sorted by path; links, binaries and files above 1 MB are left out. */
export async function* textFiles(place: Place): AsyncGenerator<{ path: string; text: string }> {
  let seen = 0;
  for await (const file of walk(place.absolute, place.path)) {
    if (++seen > MAX_FILES) return;
    if ((await lstat(file.absolute)).size > MAX_TEXT_BYTES) continue;
    const text = decodeText(await readFile(file.absolute));
    if (text !== null) yield { path: file.path, text };
  }
}

/** Paths of the regular files at or under `place`, sorted. */
export async function filePaths(place: Place): Promise<readonly string[]> {
  const paths: string[] = [];
  for await (const file of walk(place.absolute, place.path)) {
    if (paths.length >= MAX_FILES) break;
    paths.push(file.path);
  }
  return paths;
}

/** Regular files depth first; folders sort as if their name ended with `/`, so that the whole is sorted by path. */
async function* walk(absolute: string, relative: string): AsyncGenerator<{ path: string; absolute: string }> {
  const status = await lstat(absolute);
  if (status.isFile()) yield { path: relative, absolute };
  if (!status.isDirectory()) return;
  const entries = await readdir(absolute, { withFileTypes: true });
  // A Python virtual environment, whatever its name.
  if (entries.some((entry) => entry.name === 'pyvenv.cfg')) return;
  const named = entries
    .filter((entry) =>
      entry.isDirectory() ? !SKIPPED_FOLDERS.has(entry.name) : entry.isFile() && entry.name !== '.git',
    )
    .map((entry) => ({ name: entry.name, key: entry.isDirectory() ? `${entry.name}/` : entry.name }))
    .sort((a, b) => (a.key < b.key ? -1 : 1));
  for (const { name } of named) {
    yield* walk(path.join(absolute, name), relative === '.' ? name : `${relative}/${name}`);
  }
}
