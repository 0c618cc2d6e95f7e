import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { git } from '../../env/repo/git.js';
import type { Repository } from '../../env/repo/repository.js';
import { ownObjects } from '../ownObjects.js';

/**
 * Copies the objects of another repository, or of a bundle, into Whetstone's own store beside the user's, which stays as it is.
 */
export async function takeObjects(repository: Repository, source: string, signal?: AbortSignal): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'whetstone-objects-'));
  try {
    const bundle = source.endsWith('.bundle') ? source : path.join(folder, 'all.bundle');
    if (bundle !== source) {
      const own = { folder: source, gitDir: source, hermetic: true, signal };
      await git(own, ['bundle', 'create', '--quiet', bundle, '--all']);
    }
    const alternate = await ownObjects(repository);
    const objectDirectory = path.join(repository.stateFolder, 'objects');
    await git({ folder: repository.root, objectDirectory, alternate, signal }, ['bundle', 'unbundle', bundle]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
