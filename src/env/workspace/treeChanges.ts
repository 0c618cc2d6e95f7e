import { lstat, chmod, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { git } from '../repo/git.js';
import type { FileChange } from './workspace.js';

/** Larger files are no source, and are left out. */
const maxFileBytes = 1024 * 1024;
/** More files than this are a program's output, not an edit. */
const maxChangedFiles = 2000;

interface Candidate {
  readonly path: string;
  readonly before: Buffer | null;
  readonly after: Buffer | null;
  /** Set where it became a program or is one no longer. */
  readonly executable?: boolean;
}

/**
 * Text files that differ between a template and a tree that an untrusted program wrote, sorted by path. It trusts nothing
 * in the tree: links are not followed, every `.git` in it is passed over, and what is ignored is decided by the template's
 * own `.gitignore` files. A file that became a link or a folder counts as deleted.
 * `skipped`: paths (with `/`) under which nothing counts, such as installed dependencies.
 * `differences`: a folder in which everything lies that may differ, where there is one: of a tree with many files, only
 * those are read.
 */
export async function treeChanges(
  template: string,
  tree: string,
  skipped: readonly string[],
  differences: string | null = null,
): Promise<FileChange[]> {
  const skip = new Set(skipped);
  const candidates: Candidate[] = [];
  const visit = async (folder: string): Promise<void> => {
    const [before, after] = await Promise.all([
      entries(path.join(template, folder)),
      entries(path.join(tree, folder), { makeReadable: true }),
    ]);
    const touched = differences === null ? null : await namesIn(path.join(differences, folder));
    for (const name of [...new Set([...before.keys(), ...after.keys()])].sort()) {
      if (touched && !touched.has(name) && before.get(name) === after.get(name)) continue;
      const relative = folder === '' ? name : `${folder}/${name}`;
      if (skip.has(relative) || candidates.length >= maxChangedFiles) continue;
      const kinds = [before.get(name), after.get(name)];
      if (kinds.includes('folder')) await visit(relative);
      if (!kinds.includes('file')) continue;
      const [old, now] = await Promise.all([
        kinds[0] === 'file' ? readSmall(path.join(template, relative)) : null,
        kinds[1] === 'file' ? readSmall(path.join(tree, relative), { makeReadable: true }) : null,
      ]);
      if (old === 'too-large' || now === 'too-large') continue;
      const isSame = old === null ? now === null : now !== null && old.bytes.equals(now.bytes);
      const isModeSame = now === null || now.isProgram === (old?.isProgram ?? false);
      if (isSame && isModeSame) continue;
      candidates.push({
        path: relative,
        before: old?.bytes ?? null,
        after: now?.bytes ?? null,
        ...(isModeSame ? {} : { executable: now.isProgram }),
      });
    }
  };
  await visit('');
  const ignored = await ignoredIn(
    template,
    candidates.filter(({ before }) => before === null).map((found) => found.path),
  );
  return candidates
    .filter((found) => !ignored.has(found.path))
    .map((found) => ({ ...found, before: asText(found.before), after: asText(found.after) }))
    .filter((found) => found.before !== undefined && found.after !== undefined)
    .map((found) => ({ ...found, before: found.before ?? null, after: found.after ?? null }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

async function entries(
  folder: string,
  options: { makeReadable?: boolean } = {},
): Promise<Map<string, 'file' | 'folder'>> {
  const found = await lstat(folder).catch(() => null);
  if (!found?.isDirectory()) return new Map();
  if (options.makeReadable && (found.mode & 0o700) !== 0o700) await chmod(folder, 0o700);
  const kinds = new Map<string, 'file' | 'folder'>();
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    // A name that is no text comes out with this in it, and leads nowhere.
    if (entry.name === '.git' || entry.name.includes('\ufffd')) continue;
    if (entry.isDirectory()) kinds.set(entry.name, 'folder');
    else if (entry.isFile()) kinds.set(entry.name, 'file');
  }
  return kinds;
}

async function namesIn(folder: string): Promise<Set<string>> {
  return new Set(await readdir(folder).catch(() => []));
}

async function readSmall(
  file: string,
  options: { makeReadable?: boolean } = {},
): Promise<{ readonly bytes: Buffer; readonly isProgram: boolean } | 'too-large'> {
  const found = await lstat(file);
  if (found.size > maxFileBytes) return 'too-large';
  if (options.makeReadable && (found.mode & 0o400) === 0) await chmod(file, 0o600);
  return { bytes: await readFile(file), isProgram: (found.mode & 0o100) !== 0 };
}

/** Undefined where the bytes are no UTF-8 text. */
function asText(bytes: Buffer | null): string | null | undefined {
  if (bytes === null) return null;
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Of new files, those that the template's ignore rules leave out. */
export async function ignoredIn(template: string, files: readonly string[]): Promise<ReadonlySet<string>> {
  if (files.length === 0) return new Set();
  const context = { folder: template, gitDir: path.join(template, '.git'), workTree: template, hermetic: true };
  const answer = await git({ ...context, input: files.join('\0') }, ['check-ignore', '-z', '--stdin']);
  return new Set(answer.split('\0').filter((name) => name !== ''));
}
