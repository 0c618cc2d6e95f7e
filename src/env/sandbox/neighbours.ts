import path from 'node:path';
import { git } from '../repo/git.js';

/** Folders that hold what programs need, whatever else a person may have put there. */
const systemFolders = new Set([
  '/',
  '/bin',
  '/etc',
  '/lib',
  '/opt',
  '/sbin',
  '/usr',
  '/usr/lib',
  '/usr/local',
  '/var',
  '/var/lib',
]);

/**
 * What lies beside a repository and may hold the same sources, a task's oracle among them: its other worktrees, and the
 * folder around it, where people keep copies and clones.
 */
export async function neighbours(repoRoot: string): Promise<string[]> {
  const above = path.dirname(repoRoot);
  const listing = await git({ folder: repoRoot }, ['worktree', 'list', '--porcelain']).catch(() => '');
  const trees = [...listing.matchAll(/^worktree (.+)$/gm)].map(([, tree]) => tree);
  const others = trees.filter((tree) => tree !== repoRoot && !systemFolders.has(tree));
  return [...others, ...(systemFolders.has(above) ? [] : [above])];
}
