import { createHash } from 'node:crypto';
import { link, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { processIdentity } from './processIdentity.js';
import { lives, lockFile, parseHolder, type LockActivity, type LockHolder } from './trainLockHolder.js';

/** Removes a lock whose process was killed; does nothing where that process lives, or where there is no lock. */
export async function removeDeadLock(stateFolder: string): Promise<void> {
  const file = lockFile(stateFolder);
  const text = await readText(file);
  if (text === null || (await livingHolder(text)) !== null) return;
  await insteadOf(text, file, () => rm(file));
}

/**
 * Writes `mine` as the lock and resolves to null, or resolves to the living holder of it. Of many processes that want it
 * at once exactly one gets it, also where a killed one left it: a link is made whole or not at all, and a dead holder's
 * file is replaced only by who has the claim on it (see `insteadOf`).
 */
export async function lockOrHolder(file: string, mine: LockHolder): Promise<LockHolder | null> {
  const draft = `${file}.${mine.nonce}`;
  try {
    for (;;) {
      await writeFile(draft, JSON.stringify(mine));
      if (await linked(draft, file)) return null;
      const text = await readText(file);
      if (text === null) continue;
      const holder = await livingHolder(text);
      if (holder !== null) return holder;
      if (await insteadOf(text, file, () => rename(draft, file))) return null;
    }
  } finally {
    await rm(draft, { force: true });
  }
}

/** Tells one holder's lock from another's of the same process. */
export async function newHolder(runId: string, activity: LockActivity): Promise<LockHolder> {
  const identity = (await processIdentity(process.pid)) ?? 'alive';
  const nonce = `${process.pid}-${Date.now()}-${Math.random().toString(36).slice(2)}`;
  return { pid: process.pid, identity, runId, nonce, activity };
}

/**
 * Acts on a dead holder's lock file, unless it has changed since `deadText` was read; true where it acted. Between a look at
 * a file and a change of it another process may have changed it, so who changes it first locks a claim named after
 * what it read. That claim is a lock as well: where its holder was killed, it is taken over in the same way.
 */
async function insteadOf(deadText: string, file: string, act: () => Promise<void>): Promise<boolean> {
  const claim = `${file}.${createHash('sha256').update(deadText).digest('hex').slice(0, 16)}`;
  while ((await lockOrHolder(claim, await newHolder('claim', 'training'))) !== null) await setTimeout(10);
  try {
    if ((await readText(file)) !== deadText) return false;
    await act();
    return true;
  } finally {
    await rm(claim);
  }
}

async function livingHolder(text: string): Promise<LockHolder | null> {
  const holder = parseHolder(text);
  return holder !== null && (await lives(holder)) ? holder : null;
}

async function linked(draft: string, file: string): Promise<boolean> {
  try {
    await link(draft, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

async function readText(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
