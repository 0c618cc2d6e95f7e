import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { languageOf } from '../injection/parsing.js';
import { importsOf } from './importsOf.js';
import { ModuleResolver } from './moduleResolver.js';

/** Following every import of a huge repository would cost more than it brings. */
const MAX_FILES = 4000;

/**
 * Which files load which, read from their imports without running anything: what is loaded by a computed name is missing,
 * and of languages whose compiler takes whole packages, whole packages count as loaded.
 */
export class ImportGraph {
  private constructor(
    private readonly importers: ReadonlyMap<string, ReadonlySet<string>>,
    private readonly testFiles: ReadonlySet<string>,
  ) {}

  /** Follows the imports from the test files on. `files`: all paths of the tree, with `/`. */
  static async of(tree: string, files: readonly string[], testFiles: readonly string[]): Promise<ImportGraph> {
    const read = (path: string) => readFile(join(tree, ...path.split('/')), 'utf8').catch(() => '');
    const resolver = await ModuleResolver.of(files, read);
    const importers = new Map<string, Set<string>>();
    const seen = new Set(testFiles);
    let wave = [...testFiles];
    while (wave.length > 0 && seen.size <= MAX_FILES) {
      const loads = await Promise.all(wave.map(async (path) => [path, await loadedBy(path, read, resolver)] as const));
      wave = [];
      for (const [importer, loaded] of loads) {
        for (const path of loaded) {
          if (path === importer) continue;
          importers.set(path, (importers.get(path) ?? new Set()).add(importer));
          if (!seen.has(path)) wave.push(path);
          seen.add(path);
        }
      }
    }
    return new ImportGraph(importers, new Set(testFiles));
  }

  /** Does a test load this file, itself or through others? */
  isLoaded(path: string): boolean {
    return this.importers.has(path);
  }

  /** The files below a folder (`.` for all) that tests load. */
  loadedBelow(folder: string): string[] {
    return [...this.importers.keys()].filter((path) => folder === '.' || path.startsWith(`${folder}/`)).sort();
  }

  /** Test files that load one of the paths, themselves or through others, with the number of steps; nearest first. */
  testsReaching(paths: readonly string[]): ReadonlyMap<string, number> {
    const steps = new Map<string, number>();
    const seen = new Set(paths);
    let wave = [...paths];
    for (let step = 0; wave.length > 0; step += 1) {
      for (const path of wave) if (this.testFiles.has(path)) steps.set(path, step);
      wave = wave.flatMap((path) => [...(this.importers.get(path) ?? [])]).filter((path) => !seen.has(path));
      wave = [...new Set(wave)];
      for (const path of wave) seen.add(path);
    }
    return steps;
  }
}

async function loadedBy(
  path: string,
  read: (path: string) => Promise<string>,
  resolver: ModuleResolver,
): Promise<readonly string[]> {
  const language = languageOf(path);
  if (language === null) return [];
  const names = importsOf(await read(path), language);
  return [...resolver.alwaysLoaded(path, language), ...names.flatMap((name) => resolver.resolve(path, name, language))];
}
