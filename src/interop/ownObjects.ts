import path from 'node:path';
import { line } from '../env/repo/gitOutput.js';
import type { Repository } from '../env/repo/repository.js';

/** Folder of the user's own git objects, beside Whetstone's in the state folder. */
export async function ownObjects(repository: Repository): Promise<string> {
  return path.resolve(repository.root, line(await repository.git(['rev-parse', '--git-common-dir'])), 'objects');
}
