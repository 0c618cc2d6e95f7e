import { randomUUID } from 'node:crypto';
import { chmod, lstat, readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';

/** Well below what a path may be long anywhere. */
const longestPath = 1000;

/**
 * Deletes a folder with all that is in it, also where a program took the right to write from its folders, or nested them
 * deeper than a path may be long.
 */
export async function removeFolder(folder: string): Promise<void> {
  const remove = () => rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  try {
    await remove();
  } catch {
    let isDeep: boolean;
    do {
      await makeFoldersWritable(Buffer.from(folder));
      isDeep = await flatten(Buffer.from(folder), folder);
    } while (isDeep);
    await remove();
  }
}

/** Moves the folders whose path is too long up into `top`; true where there were some, which may hold more of them. */
async function flatten(folder: Buffer, top: string): Promise<boolean> {
  let found = false;
  for (const child of await foldersIn(folder)) {
    if (child.length > longestPath + top.length) {
      await rename(child, path.join(top, `deep-${randomUUID()}`));
      found = true;
    } else found = (await flatten(child, top)) || found;
  }
  return found;
}

async function makeFoldersWritable(folder: Buffer): Promise<void> {
  await chmod(folder, 0o700).catch(() => undefined);
  for (const child of await foldersIn(folder)) await makeFoldersWritable(child);
}

/** Paths as bytes: a program may give names that are no text. */
async function foldersIn(folder: Buffer): Promise<Buffer[]> {
  const found = await lstat(folder).catch(() => null);
  if (!found?.isDirectory()) return [];
  const entries = await readdir(folder, { withFileTypes: true, encoding: 'buffer' }).catch(() => []);
  return entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => Buffer.concat([folder, Buffer.from(path.sep), entry.name]));
}
