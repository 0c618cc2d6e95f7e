import { lstat, readFile } from 'node:fs/promises';
import * as path from 'node:path';
import type { Workspace } from '../workspace/workspace.js';

/** Files above this are neither searched nor opened. */
export const MAX_TEXT_BYTES = 1024 * 1024;

/** A place in the tree that was looked at: inside it, reached through no link. */
export interface Place {
  /** Relative to the root, with `/`; `.` for the root. */
  readonly path: string;
  readonly absolute: string;
  readonly kind: 'file' | 'folder' | 'nothing';
}
/** An observation that says why not. */
export interface Problem {
  readonly problem: string;
}

/**
 * Resolves a path as the policy wrote it: relative to the root, or absolute under the tree's own path. Anything that
 * leads out of the tree (`..`, links), into `.git`, or to something else than a file or a folder is a problem.
 */
export async function resolveInTree(
  workspace: Pick<Workspace, 'root' | 'mountPath'>,
  written: string,
): Promise<Place | Problem> {
  const outside = { problem: `"${written}" is outside the repository.` };
  if (written.includes('\0')) return outside;
  const relative = relativeToTree(workspace, written);
  if (relative === null) return outside;
  const shown = relative.split(path.sep).join('/') || '.';
  if (shown.split('/').some((part) => part.toLowerCase() === '.git')) return { problem: `"${shown}" belongs to git.` };
  let absolute = workspace.root;
  const parts = relative === '' ? [] : relative.split(path.sep);
  for (const [index, part] of parts.entries()) {
    absolute = path.join(absolute, part);
    const status = await statusOf(absolute);
    const last = index === parts.length - 1;
    if (status === null)
      return { path: shown, absolute: path.join(absolute, ...parts.slice(index + 1)), kind: 'nothing' };
    if (status.isSymbolicLink()) return { problem: `"${parts.slice(0, index + 1).join('/')}" is a link.` };
    if (last && status.isFile()) return { path: shown, absolute, kind: 'file' };
    if (!status.isDirectory()) {
      return { problem: last ? `"${shown}" is not a regular file.` : `No file "${shown}".` };
    }
  }
  return { path: shown, absolute, kind: 'folder' };
}

/** The text of a regular file, exactly as it is (byte-order mark and line ends kept), or why there is none. */
export async function readTextFile(place: Place): Promise<{ readonly text: string } | Problem> {
  if (place.kind === 'nothing') return { problem: `No file "${place.path}".` };
  if (place.kind === 'folder') return { problem: `"${place.path}" is a folder.` };
  const { size } = await lstat(place.absolute);
  if (size > MAX_TEXT_BYTES) return { problem: `"${place.path}" is too large (${size} bytes).` };
  const text = decodeText(await readFile(place.absolute));
  return text === null ? { problem: `"${place.path}" is not a text file.` } : { text };
}

/** Null where the bytes are not UTF-8 or hold a NUL. */
export function decodeText(bytes: Uint8Array): string | null {
  if (bytes.includes(0)) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

function relativeToTree(workspace: Pick<Workspace, 'root' | 'mountPath'>, written: string): string | null {
  if (!path.isAbsolute(written)) return inside(workspace.root, path.resolve(workspace.root, written));
  return inside(workspace.mountPath, written) ?? inside(workspace.root, written);
}

function inside(root: string, absolute: string): string | null {
  const relative = path.relative(root, absolute);
  const escapes = relative === '..' || relative.startsWith(`..${path.sep}`) || path.isAbsolute(relative);
  return escapes ? null : relative;
}

async function statusOf(absolute: string) {
  try {
    return await lstat(absolute);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ENAMETOOLONG' || code === 'ENOTDIR') return null;
    throw error;
  }
}
