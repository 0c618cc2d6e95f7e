import { lstat, readdir, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { badInput, WhetstoneError } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';
import { git } from './git.js';

const searchDepth = 3;

/**
 * Root of the git repository that `given` lies in, or of the only one in its subfolders (three levels down).
 * Throws `badInput` where there is none, several, or a bare one.
 */
export async function findRepositoryRoot(given: string): Promise<string> {
  const folder = await existingFolder(given);
  const around = await topLevel(folder);
  if (around) return around;
  const inside = await repositoriesBelow(folder, searchDepth);
  if (inside.length === 1) {
    const root = await topLevel(inside[0]);
    if (root) return root;
  }
  if (inside.length > 1) {
    const names = inside.map((found) => path.relative(folder, found)).sort();
    const shown = names.slice(0, 5).join(', ') + (names.length > 5 ? ', …' : '');
    throw badInput(say`${folder} holds ${names.length} git repositories: ${shown}.`, 'Name one of them with --repo.');
  }
  throw badInput(
    say`${folder} is not a git repository.`,
    'Run `git init` and commit there, or name another folder with --repo.',
  );
}

async function existingFolder(given: string): Promise<string> {
  try {
    const resolved = await realpath(path.resolve(given));
    return (await stat(resolved)).isDirectory() ? resolved : path.dirname(resolved);
  } catch (error) {
    throw badInput(say`The folder ${given} does not exist.`, 'Name an existing folder with --repo.', error);
  }
}

/** Null where `folder` lies in no repository. */
async function topLevel(folder: string): Promise<string | null> {
  try {
    const bare = (await git({ folder }, ['rev-parse', '--is-bare-repository'])).trim();
    if (bare === 'true') {
      throw badInput(
        say`${folder} is a bare git repository, without files.`,
        'Clone it and name the clone with --repo.',
      );
    }
    return path.resolve((await git({ folder }, ['rev-parse', '--show-toplevel'])).replace(/\r?\n$/, ''));
  } catch (error) {
    if (error instanceof WhetstoneError && /not a git repository/i.test(error.message)) return null;
    throw error;
  }
}

async function repositoriesBelow(folder: string, depth: number): Promise<string[]> {
  if (depth === 0) return [];
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const found: string[] = [];
  for (const entry of entries) {
    if (!entry.isDirectory() || entry.name.startsWith('.') || entry.name === 'node_modules') continue;
    const child = path.join(folder, entry.name);
    const isRepository = await lstat(path.join(child, '.git')).then(
      () => true,
      () => false,
    );
    found.push(...(isRepository ? [child] : await repositoriesBelow(child, depth - 1)));
  }
  return found;
}
