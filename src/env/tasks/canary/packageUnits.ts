import { packageRoots } from '../../testing/packageRoots.js';

const MANIFESTS = [
  'package.json',
  'pyproject.toml',
  'setup.py',
  'setup.cfg',
  'go.mod',
  'Cargo.toml',
  'pom.xml',
  'build.gradle',
  'build.gradle.kts',
];

/** A package of the repository: its folder (`.` for the root), and its sources. Paths are relative to the root, with `/`. */
export interface PackageUnit {
  readonly folder: string;
  readonly sources: readonly string[];
}

/** The sources by the package that they belong to; packages without any are left out. The largest come first. */
export function packageUnits(files: readonly string[], sources: readonly string[]): PackageUnit[] {
  const roots = packageRoots(files, MANIFESTS).sort((a, b) => b.length - a.length);
  const units = new Map<string, string[]>();
  for (const source of sources) {
    const folder = rootOf(source, roots);
    units.set(folder, [...(units.get(folder) ?? []), source]);
  }
  return [...units]
    .map(([folder, own]) => ({ folder, sources: own }))
    .sort((a, b) => b.sources.length - a.sources.length || (a.folder < b.folder ? -1 : 1));
}

/** The innermost of the folders, the longest given first, that a path lies in. */
export function rootOf(path: string, roots: readonly string[]): string {
  return roots.find((root) => root === '.' || path.startsWith(`${root}/`)) ?? '.';
}
