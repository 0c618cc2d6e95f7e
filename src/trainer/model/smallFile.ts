import { readFile, stat } from 'node:fs/promises';

/**
 * The bytes of a file that holds at most so many. Throws an Error with the reason: where there is none (as the file system does,
 * ENOENT), where it is larger, and where it is a device or a pipe, which a link in a stranger's folder may name and whose bytes
 * would never end.
 */
export async function readSmallFile(path: string, mostBytes: number): Promise<Buffer> {
  const found = await stat(path);
  if (!found.isFile()) throw new Error('it is a folder, a device or a pipe');
  if (found.size > mostBytes) throw new Error(`it is ${found.size} bytes large`);
  return readFile(path);
}
