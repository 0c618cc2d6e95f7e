import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { cp, mkdir } from 'node:fs/promises';
import { promisify } from 'node:util';
import { cancelled } from '../../trajectory/errors.js';

const run = promisify(execFile);

/** Copies a folder's contents into `target`, links as links. Shares the blocks on the disk where the file system can. */
export async function copyTree(source: string, target: string): Promise<void> {
  await mkdir(target, { recursive: true });
  if (process.platform === 'linux') {
    // Several times faster than copying from JavaScript, where a tree has thousands of small files.
    await run('cp', ['-a', '--reflink=auto', '--', `${source}/.`, target]).catch((error: unknown) => {
      // Ctrl-C in a terminal reaches it before it reaches us.
      throw error instanceof Error && 'signal' in error && error.signal === 'SIGINT' ? cancelled() : error;
    });
    return;
  }
  await cp(source, target, { recursive: true, verbatimSymlinks: true, mode: constants.COPYFILE_FICLONE });
}
