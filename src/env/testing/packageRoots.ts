import path from 'node:path';

/** Packages below these are given to tests as their material, or belong to others. */
const foreign =
  /(^|\/)(tests?|__tests__|specs?|fixtures?|__fixtures__|examples?|templates?|node_modules|vendor)(\/|$)/i;

/**
 * Folders (`.` for the root, relative to the tree) of a project's own packages: those that hold a file of one of the given
 * names, tests' material left out. The root is always there and comes first.
 */
export function packageRoots(files: readonly string[], manifests: readonly string[]): string[] {
  const found = files
    .filter((file) => manifests.includes(path.posix.basename(file)))
    .map((file) => path.posix.dirname(file))
    .filter((folder) => folder !== '.' && !foreign.test(folder));
  const depth = (folder: string) => folder.split('/').length;
  return ['.', ...[...new Set(found)].sort((a, b) => depth(a) - depth(b) || (a < b ? -1 : 1))];
}
