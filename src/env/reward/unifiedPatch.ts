import { applyPatch, parsePatch, type StructuredPatch } from 'diff';
import type { FileChange } from '../workspace/workspace.js';

/** The patch is not one that can be read and applied: similarity is -1 then (requirement R1). */
export class FormatError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'FormatError';
  }
}

/** One file of a unified diff; a path is null on the side where the file does not exist. */
export interface FilePatch {
  readonly oldPath: string | null;
  readonly newPath: string | null;
  readonly patch: StructuredPatch;
}

/** Patches above this are refused, so that reading and applying one takes bounded time. */
const MAX_PATCH_CHARACTERS = 1024 * 1024;

/** Reads a unified diff, git's dialect included. Blank text holds no file. Throws FormatError. */
export function parseUnifiedDiff(text: string): FilePatch[] {
  if (text.trim() === '') return [];
  if (text.length > MAX_PATCH_CHARACTERS) throw new FormatError('the patch is too large.');
  return parse(text).map(toFilePatch);
}

/**
 * Applies a unified diff to the files that `read` gives (null: there is none), all of it or nothing. The result has one
 * change for each file that differs in the end, sorted by path. Throws FormatError.
 */
export async function applyUnifiedDiff(
  text: string,
  read: (path: string) => Promise<string | null>,
): Promise<FileChange[]> {
  const files = new Map<string, { before: string | null; after: string | null; executable?: boolean }>();
  const load = async (path: string) => {
    const known = files.get(path);
    if (known) return known;
    const content = await read(path);
    const file: { before: string | null; after: string | null; executable?: boolean } = {
      before: content,
      after: content,
    };
    files.set(path, file);
    return file;
  };
  for (const { oldPath, newPath, patch } of parseUnifiedDiff(text)) {
    const from = oldPath === null ? null : await load(oldPath);
    if (from?.after === null) throw new FormatError(`there is no file "${oldPath}".`);
    const to = newPath === null ? null : await load(newPath);
    if (to && to !== from && to.after !== null) throw new FormatError(`"${newPath}" exists already.`);
    const after = applyOne(from?.after ?? '', patch, newPath ?? oldPath ?? '');
    if (newPath === null && after !== '') throw new FormatError(`the deletion does not match "${oldPath}".`);
    if (from) from.after = null;
    if (to) {
      to.after = after;
      to.executable = becomesProgram(patch) ?? to.executable;
    }
  }
  return [...files]
    .map(([path, { before, after, executable }]) => ({
      path,
      before,
      after,
      ...(executable === undefined || after === null ? {} : { executable }),
    }))
    .filter(({ before, after, executable }) => before !== after || executable !== undefined)
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

function parse(text: string): StructuredPatch[] {
  try {
    return parsePatch(text);
  } catch (error) {
    throw new FormatError(`not a unified diff: ${(error as Error).message}.`);
  }
}

function toFilePatch(patch: StructuredPatch): FilePatch {
  if (patch.isBinary) throw new FormatError('the patch holds a binary file.');
  if (!patch.oldFileName || !patch.newFileName) {
    throw new FormatError('not a unified diff: it needs "--- a/path", "+++ b/path" and "@@ ... @@" lines.');
  }
  if (patch.hunks.some((hunk) => ![hunk.oldStart, hunk.newStart].every(Number.isSafeInteger))) {
    throw new FormatError('not a unified diff: a "@@ -line,count +line,count @@" line does not parse.');
  }
  const [oldName, newName] = withoutPrefixes(patch.oldFileName, patch.newFileName);
  const newPath = patch.isDelete || newName === DEV_NULL ? null : pathInTree(newName);
  // Without git's word for it, two names are no rename: `diff -u file.orig file` means the second.
  const onlyName = patch.isRename || newPath === null ? oldName : newName;
  const oldPath = patch.isCreate || oldName === DEV_NULL ? null : pathInTree(onlyName);
  if (patch.isCopy) throw new FormatError('copies of files are not supported.');
  if (oldPath === null && newPath === null) throw new FormatError('not a unified diff: it names no file.');
  return { oldPath, newPath, patch };
}

const DEV_NULL = '/dev/null';

/** Drops git's `a/` and `b/`, where both names have them. */
function withoutPrefixes(oldName: string, newName: string): [string, string] {
  const hasPrefixes =
    (oldName === DEV_NULL || oldName.startsWith('a/')) && (newName === DEV_NULL || newName.startsWith('b/'));
  return hasPrefixes ? [oldName.replace(/^a\//, ''), newName.replace(/^b\//, '')] : [oldName, newName];
}

/** The path without `./`. One that leaves the tree is refused. */
function pathInTree(name: string): string {
  const path = name.replace(/^(?:\.\/)+/, '');
  if (/^[/\\]|^[A-Za-z]:|\0/.test(path) || path.split(/[/\\]/).some((part) => part === '..' || part === '')) {
    throw new FormatError(`"${name}" is outside the repository.`);
  }
  return path;
}

/** What git's mode lines say; undefined where they leave it as it was. */
function becomesProgram({ isCreate, oldMode, newMode }: StructuredPatch): boolean | undefined {
  if (newMode === '100755') return true;
  return newMode === '100644' && !isCreate && oldMode === '100755' ? false : undefined;
}

function applyOne(before: string, patch: StructuredPatch, path: string): string {
  const after = applyPatch(before, patch);
  if (after === false) throw new FormatError(`a hunk does not match "${path}".`);
  return after;
}
