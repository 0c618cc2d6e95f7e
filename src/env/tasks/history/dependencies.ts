import { basename } from 'node:path/posix';
import type { Repository } from '../../repo/repository.js';
import type { ChangedFile } from './commits.js';

const MANIFESTS =
  /^(requirements[^/]*\.txt|pyproject\.toml|setup\.(py|cfg)|pipfile|[^/]*\.lock|package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml)$/i;
const FIELDS = ['dependencies', 'devDependencies', 'peerDependencies', 'optionalDependencies', 'type'] as const;

/**
 * Does a commit change what has to be installed? Then the parent's tree may not run with what is installed now. Of a
 * package.json only the fields on dependencies count.
 */
export async function changesDependencies(
  repository: Repository,
  parent: string,
  commit: string,
  files: readonly ChangedFile[],
): Promise<boolean> {
  if (files.some(({ path }) => MANIFESTS.test(basename(path)))) return true;
  for (const { path, oldPath, status } of files.filter((file) => basename(file.path) === 'package.json')) {
    if (status === 'A' || status === 'D') return true;
    const before = await dependencyFields(repository, `${parent}:${oldPath}`);
    const after = await dependencyFields(repository, `${commit}:${path}`);
    if (before !== after) return true;
  }
  return false;
}

async function dependencyFields(repository: Repository, blob: string): Promise<string> {
  const text = await repository.git(['cat-file', 'blob', blob]);
  try {
    const manifest = JSON.parse(text) as Record<string, unknown>;
    return JSON.stringify(FIELDS.map((name) => manifest[name] ?? null));
  } catch {
    return text;
  }
}
