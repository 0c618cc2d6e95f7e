import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { packageRoots } from '../packageRoots.js';

export interface CargoWorkspace {
  /** Where Cargo is started. */
  readonly root: string;
  readonly testFiles: readonly string[];
  /** Files of modules that are compiled for tests alone. */
  readonly testModules: readonly string[];
}

const testAttribute = /#\[\s*(?:\w+::)*(?:test|rstest|test_case|quickcheck|bench)\b[^\]]*\]/;
const testModule =
  /#\[cfg\(\s*(?:all\s*\(\s*)?test\b[^\]]*\]\s*(?:#\[[^\]]*\]\s*)*(?:pub(?:\([^)]*\))?\s+)?mod\s+(\w+)\s*;/g;
/** Built by `cargo test` too, but no tests of them are run. */
const notTested = /(^|\/)(benches|examples|target)\//;

/** The workspaces and lone packages of a tree with tests in them. */
export async function cargoWorkspaces(tree: string, files: readonly string[]): Promise<CargoWorkspace[]> {
  const roots = packageRoots(files, ['Cargo.toml']).filter((folder) => files.includes(join(folder, 'Cargo.toml')));
  const manifests = new Map(
    await Promise.all(roots.map(async (root) => [root, await readText(path.join(tree, root, 'Cargo.toml'))] as const)),
  );
  const isWorkspace = (folder: string) => /^\s*\[workspace[\].]/m.test(manifests.get(folder) ?? '');
  const rootOf = (folder: string) =>
    roots.find(
      (root) =>
        isWorkspace(root) && isBelow(folder, root) && !excludes(manifests.get(root) ?? '', relative(root, folder)),
    ) ?? folder;
  const byRoot = new Map<string, { testFiles: string[]; testModules: string[] }>();
  for (const file of files.filter((name) => name.endsWith('.rs'))) {
    const owner = [...roots].reverse().find((root) => isBelow(file, root));
    if (owner === undefined || notTested.test(file)) continue;
    const text = await readText(path.join(tree, file));
    const root = rootOf(owner);
    const found = byRoot.get(root) ?? { testFiles: [], testModules: [] };
    if (testAttribute.test(text)) found.testFiles.push(file);
    for (const [, name] of text.matchAll(testModule)) {
      const folder = /^(lib|main|mod)\.rs$/.test(path.posix.basename(file))
        ? path.posix.dirname(file)
        : file.slice(0, -3);
      const below = files.filter(
        (each) => each === join(folder, `${name}.rs`) || each.startsWith(`${join(folder, name)}/`),
      );
      found.testModules.push(...below);
    }
    byRoot.set(root, found);
  }
  return [...byRoot].map(([root, found]) => ({ root, ...found })).filter(({ testFiles }) => testFiles.length > 0);
}

const join = (folder: string, name: string) => path.posix.join(folder, name);
const relative = (root: string, folder: string) => path.posix.relative(root, folder);
const isBelow = (name: string, root: string) => root === '.' || name === root || name.startsWith(`${root}/`);
const readText = (file: string) => readFile(file, 'utf8').catch(() => '');

/** Does a workspace's manifest leave the folder out? */
function excludes(manifest: string, folder: string): boolean {
  const list = /^\s*exclude\s*=\s*\[([^\]]*)\]/m.exec(
    /^\s*\[workspace\]([\s\S]*?)(?=^\s*\[|(?![\s\S]))/m.exec(manifest)?.[1] ?? '',
  );
  const excluded = [...(list?.[1] ?? '').matchAll(/["']([^"']+)["']/g)].map(([, name]) => path.posix.normalize(name));
  return excluded.some((name) => isBelow(folder, name));
}
