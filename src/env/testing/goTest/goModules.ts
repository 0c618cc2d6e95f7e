import { readFile } from 'node:fs/promises';
import path from 'node:path';

/** Where Go is started, and the Go files that it builds there, relative to the tree. */
export interface GoModule {
  readonly root: string;
  readonly files: readonly string[];
}

/** Folders that Go passes over, and copies of other modules. */
const passedOver = /(^|\/)(testdata|vendor|[_.][^/]*)\//;

/** The modules of a tree; those that a go.work joins are one, started where that lies. */
export async function goModules(tree: string, files: readonly string[]): Promise<GoModule[]> {
  const foldersOf = (name: string) =>
    files
      .filter((file) => path.posix.basename(file) === name && !passedOver.test(file))
      .map((file) => path.posix.dirname(file));
  const moduleFolders = foldersOf('go.mod').sort((a, b) => b.length - a.length);
  const rootOf = new Map(moduleFolders.map((folder) => [folder, folder]));
  for (const workspace of foldersOf('go.work').sort((a, b) => b.length - a.length)) {
    const text = await readFile(path.join(tree, workspace, 'go.work'), 'utf8').catch(() => '');
    for (const used of usedFolders(text)) {
      const folder = path.posix.join(workspace, used);
      if (rootOf.get(folder) === folder) rootOf.set(folder, workspace);
    }
  }
  const byRoot = new Map<string, string[]>();
  for (const file of files.filter((name) => name.endsWith('.go') && !passedOver.test(name))) {
    const folder = moduleFolders.find((candidate) => candidate === '.' || file.startsWith(`${candidate}/`));
    const root = folder === undefined ? undefined : rootOf.get(folder);
    if (root !== undefined) byRoot.set(root, [...(byRoot.get(root) ?? []), file]);
  }
  return [...byRoot].map(([root, found]) => ({ root, files: found })).sort((a, b) => (a.root < b.root ? -1 : 1));
}

/** Folders that a go.work names with `use`. */
function usedFolders(text: string): string[] {
  const plain = text.replace(/\/\/.*$/gm, '');
  const blocks = [...plain.matchAll(/^use\s*\(([^)]*)\)/gm)].flatMap(([, block]) => block.split('\n'));
  const lines = [...plain.matchAll(/^use[ \t]+([^\s(].*)$/gm)].map(([, line]) => line);
  return [...blocks, ...lines].map((line) => line.trim().replace(/^["`]|["`]$/g, '')).filter((line) => line !== '');
}

const testFunction = /^func (?:Test|Example|Fuzz)(?!\p{Ll}|Main\()[\p{L}\p{N}_]*\s*\(/mu;
const supportName = /test|mock|fake|assert|golden|fixture/i;

/**
 * The files with tests in them, and the folders of packages that are there for tests alone: named so, without tests of
 * their own, and imported by no other source.
 */
export async function testFilesOf(tree: string, root: string, files: readonly string[]) {
  const texts = await Promise.all(
    files.map(async (file) => ({ file, text: await readFile(path.join(tree, file), 'utf8').catch(() => '') })),
  );
  const isTest = ({ file }: { file: string }) => file.endsWith('_test.go');
  const tests = texts.filter(isTest);
  const folders = [...new Set(files.map((file) => path.posix.dirname(file)))];
  const candidates = folders.filter(
    (folder) =>
      supportName.test(path.posix.basename(folder)) && !tests.some(({ file }) => path.posix.dirname(file) === folder),
  );
  const importers = (folder: string) => {
    const written = new RegExp(`"(?:[^"\\n]+/)?${path.posix.relative(root, folder).replace(/[^\w/]/g, '\\$&')}"`);
    return texts
      .filter(({ text }) => written.test(text))
      .filter((importer) => !candidates.includes(path.posix.dirname(importer.file)));
  };
  const supporting = candidates.filter((folder) => {
    const found = folder === root ? [] : importers(folder);
    return found.length > 0 && found.every(isTest);
  });
  return { testFiles: tests.filter(({ text }) => testFunction.test(text)).map(({ file }) => file), supporting };
}
