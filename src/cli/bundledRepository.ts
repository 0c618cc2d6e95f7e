import { existsSync } from 'node:fs';
import { cp, mkdir, readdir } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { git } from '../env/repo/git.js';
import { badInput } from '../trajectory/errors.js';
import { say } from '../trajectory/said.js';

const bundledFiles = () => path.join(path.dirname(fileURLToPath(import.meta.url)), '../test-fixtures/embedded-repo');
// Fixed, so that the commit, and with it every task's id, is the same on every machine.
const author = { name: 'Whetstone', email: 'whetstone@example.invalid', date: '2026-01-01T00:00:00Z' };

/** Makes a git repository of the bundled files in `folder`, or finds the one made there before. */
export async function unpackBundledRepository(folder: string, signal: AbortSignal): Promise<void> {
  if (existsSync(path.join(folder, '.git'))) return;
  await makeFolder(folder);
  if ((await readdir(folder)).length > 0) {
    throw badInput(say`${folder} is not empty and not a repository.`, 'Choose another folder with --at, or delete it.');
  }
  await cp(bundledFiles(), folder, { recursive: true });
  const context = { folder, hermetic: true, author, signal };
  await git(context, ['init', '--quiet', '--initial-branch=main', '--template=']);
  await git(context, ['add', '--all']);
  await git(context, ['commit', '--quiet', '--message=A small library with tests']);
}

/** One folder after the other: mkdir's own recursion never ends under /proc, where it is told that parents do not exist. */
async function makeFolder(folder: string): Promise<void> {
  if (existsSync(folder)) return;
  if (folder !== path.dirname(folder)) await makeFolder(path.dirname(folder));
  await mkdir(folder).catch((error: NodeJS.ErrnoException) => {
    throw badInput(say`${folder} cannot be made (${String(error.code)}).`, 'Choose another folder with --at.', error);
  });
}
