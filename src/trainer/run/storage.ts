import { open, rename, rm, writeFile } from 'node:fs/promises';
import { badInput, WhetstoneError } from '../../trajectory/errors.js';
import { say, type Said } from '../../trajectory/said.js';

const remedies: Readonly<Record<string, readonly [what: Said, remedy: Said]>> = {
  ENOSPC: [say`disk full`, say`Free some space, then resume the run.`],
  EDQUOT: [say`disk quota used up`, say`Free some space, then resume the run.`],
  EACCES: [say`no permission to write`, say`Make the folder writable for this user.`],
  EPERM: [say`no permission to write`, say`Make the folder writable for this user.`],
  EROFS: [say`the file system is read-only`, say`Move the repository to a writable place.`],
};

/**
 * Turns an error of the file system that the user can mend, or one that it caused, into a bad-input error of one line;
 * others stay as they are.
 */
export function storageError(error: unknown, file: string): unknown {
  const cause = error instanceof WhetstoneError ? error.cause : error;
  const code = (cause as NodeJS.ErrnoException | undefined)?.code;
  const known = code === undefined ? undefined : remedies[code];
  return known === undefined ? error : badInput(say`${file}: ${known[0]} (${String(code)}).`, known[1], error);
}

/** Writes a file so that readers see the old content or the new, never a part. */
export async function writeFileAtomically(file: string, content: string | Uint8Array, mode = 0o644): Promise<void> {
  const temporary = `${file}.${process.pid}.tmp`;
  try {
    await writeFile(temporary, content, { mode });
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw storageError(error, file);
  }
}

/** Flushes a file or folder to the disk. Windows cannot open folders for this; its renames are journaled. */
export async function flush(target: string, kind: 'file' | 'folder'): Promise<void> {
  if (kind === 'folder' && process.platform === 'win32') return;
  const handle = await open(target, kind === 'file' ? 'r+' : 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
