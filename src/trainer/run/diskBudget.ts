import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { badInput } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';
import { pruneToSize } from './checkpoints.js';
import type { RunPaths } from './runDirectory.js';

const gigabyte = 1e9;

/** Bytes of the files under a folder. One that goes meanwhile counts nothing. */
export async function folderBytes(folder: string): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const sizes = await Promise.all(
    entries.map(async (entry) => {
      const at = path.join(folder, entry.name);
      if (entry.isDirectory()) return folderBytes(at);
      return entry.isFile()
        ? stat(at).then(
            ({ size }) => size,
            () => 0,
          )
        : 0;
    }),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

/**
 * Keeps a run within its disk budget: older checkpoints go, and where that is not enough bad-input is thrown. What was
 * recorded stays, so a run with a larger budget goes on from its newest checkpoint.
 * @param budget in 10^9 bytes; 0: no limit
 * @param isDone nothing of size is written any more, so that no error is of use
 */
export async function keepWithinBudget(paths: RunPaths, budget: number, isDone: boolean): Promise<void> {
  if (budget === 0) return;
  const most = budget * gigabyte;
  const bytes = await pruneToSize(paths.checkpoints, most, () => folderBytes(paths.folder));
  if (bytes <= most || isDone) return;
  throw badInput(
    say`The run holds ${(bytes / gigabyte).toPrecision(3)} GB, more than its disk budget of ${budget} GB.`,
    'Resume it with a larger `--disk-gigabytes`.',
  );
}
