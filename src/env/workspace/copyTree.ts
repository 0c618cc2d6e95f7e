import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { cp, mkdir } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Copies a folder's contents into `target`, links as links. Shares the blocks on the disk where the file system can. */
export async function copyTree(source: string, target: string): Promise<void> {
  await mkdir(target, { recursive: true });
  if (process.platform === 'linux') {
    // Several times faster than copying from JavaScript, where a tree has thousands of small files.
    await run('cp', ['-a', '--reflink=auto', '--', `${source}/.`, target]);
    return;
  }
  await cp(source, target, { recursive: true, verbatimSymlinks: true, mode: constants.COPYFILE_FICLONE });
}
