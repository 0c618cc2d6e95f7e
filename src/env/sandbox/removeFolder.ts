import { chmod, lstat, readdir, rm } from 'node:fs/promises';
import path from 'node:path';

/** Deletes a folder with all that is in it, also where a program took the right to write from its folders. */
export async function removeFolder(folder: string): Promise<void> {
  const remove = () => rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  try {
    await remove();
  } catch {
    await makeFoldersWritable(folder);
    await remove();
  }
}

async function makeFoldersWritable(folder: string): Promise<void> {
  const found = await lstat(folder).catch(() => null);
  if (!found?.isDirectory()) return;
  await chmod(folder, 0o700).catch(() => undefined);
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
    if (entry.isDirectory()) await makeFoldersWritable(path.join(folder, entry.name));
  }
}
