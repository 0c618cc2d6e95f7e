import type { RepositoryEnvironment } from '../environment.js';
import { splitNul } from '../repo/gitOutput.js';
import { isSourcePath, isTestPath } from './sourceFiles.js';

/** Paths of the environment's base tree, with `/`. */
export interface TreePaths {
  readonly all: readonly string[];
  /** By their names code of the project itself, of which tasks can be made. */
  readonly sources: readonly string[];
}

export async function treePaths({ repository, baseTree, suites }: RepositoryEnvironment): Promise<TreePaths> {
  const all = splitNul(await repository.git(['ls-tree', '-r', '-z', '--name-only', baseTree]));
  const tests = new Set(suites.testFiles.filter((path) => !suites.isMixed(path)));
  const isSource = (path: string) =>
    isSourcePath(path) && !isTestPath(path) && !tests.has(path) && !suites.isTestFile(path);
  return { all, sources: all.filter(isSource) };
}
