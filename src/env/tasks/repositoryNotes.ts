import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { splitNul } from '../repo/gitOutput.js';
import type { Repository } from '../repo/repository.js';

/** One line for each thing that a clone lacks and tasks could be made of, with what brings it. */
export async function repositoryNotes(
  repository: Repository,
  baseTree: string,
  { usesHistory }: { readonly usesHistory: boolean },
): Promise<string[]> {
  const [shallow, pointers, empty] = await Promise.all([
    usesHistory ? shallowCommits(repository) : null,
    largeFiles(repository),
    emptySubmodules(repository, baseTree),
  ]);
  const notes: string[] = [];
  if (shallow !== null) {
    notes.push(`This is a shallow clone (commits: ${shallow}); \`git fetch --unshallow\` brings the whole history.`);
  }
  if (pointers > 0)
    notes.push(`Files in large file storage (LFS): ${pointers}. Tests find their pointers in their place.`);
  if (empty.length > 0) {
    const shown = empty.slice(0, 3).join(', ') + (empty.length > 3 ? ', …' : '');
    notes.push(`Submodules that are not checked out: ${shown}. \`git submodule update --init\` brings them.`);
  }
  return notes;
}

/** Number of the commits that are here; null where the clone is whole. */
async function shallowCommits(repository: Repository): Promise<number | null> {
  const isShallow = (await repository.git(['rev-parse', '--is-shallow-repository'])).trim() === 'true';
  return isShallow ? Number(await repository.git(['rev-list', '--count', repository.headCommit, '--'])) : null;
}

const largeFiles = async (repository: Repository) =>
  splitNul(await repository.git(['ls-files', '-z', '--', ':(top,attr:filter=lfs)'])).length;

async function emptySubmodules(repository: Repository, baseTree: string): Promise<string[]> {
  const entries = splitNul(await repository.git(['ls-tree', '-r', '-z', baseTree]));
  const submodules = entries.filter((entry) => entry.startsWith('160000 ')).map((entry) => entry.split('\t')[1]);
  const files = await Promise.all(
    submodules.map((path) => readdir(join(repository.root, ...path.split('/'))).catch(() => [])),
  );
  return submodules.filter((_, index) => files[index].length === 0);
}
