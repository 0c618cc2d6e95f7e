import { existsSync } from 'node:fs';
import { link, rename, rm } from 'node:fs/promises';
import { lives, lockFile, readHolder, type LockHolder } from './trainLockHolder.js';

/** Removes a lock whose process was killed; does nothing where that process lives, or where there is no lock. */
export async function removeDeadLock(stateFolder: string): Promise<void> {
  const file = lockFile(stateFolder);
  if (!existsSync(file)) return;
  const holder = await readHolder(file);
  if (holder === null || !(await lives(holder))) await evict(holder, file, `${file}.${newNonce()}.stale`);
}

/** Tells one holder's lock from another's of the same process. */
export const newNonce = () => `${process.pid}-${Date.now()}-${Math.random().toString(36).slice(2)}`;

/** A link appears whole or not at all, so a reader never finds a lock without its holder. */
export async function linked(draft: string, file: string): Promise<boolean> {
  try {
    await link(draft, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Takes the lock away from a holder that is dead (null: what was written is no lock). */
export async function evict(dead: LockHolder | null, file: string, aside: string): Promise<void> {
  try {
    await rename(file, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  // Between reading and renaming, another process may have taken the lock over: then it goes back.
  const evicted = await readHolder(aside);
  if (evicted !== null && evicted.nonce !== dead?.nonce) await linked(aside, file);
  await rm(aside, { force: true });
}
