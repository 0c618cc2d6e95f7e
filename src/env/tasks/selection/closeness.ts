import { readFile } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';

/** Words that say nothing about a module where tests use them. */
const COMMON = new Set([
  'index',
  '__init__',
  'mod',
  'main',
  'lib',
  'node',
  'test',
  'assert',
  'utils',
  'util',
  'core',
  'types',
]);

/** How much a test file speaks of some files: 3 where it is one of them, 2 where it bears the name of one, 1 for a mention, else 0. */
export async function closeness(tree: string, testFile: string, paths: readonly string[]): Promise<number> {
  if (paths.includes(testFile)) return 3;
  const names = paths.map(moduleName).filter((name) => name !== null);
  if (names.some((name) => mentionsWord(basename(testFile), name))) return 2;
  const text = await readFile(join(tree, ...testFile.split('/')), 'utf8').catch(() => '');
  return names.some((name) => !COMMON.has(name) && mentionsWord(text, name)) ? 1 : 0;
}

/** A module's name as tests write it: `range` for src/range.js, the folder's for an index or `__init__`. */
function moduleName(path: string): string | null {
  const name = basename(path, extname(path));
  const parts = path.split('/');
  if (!/^(index|__init__|mod|main)$/.test(name)) return name;
  return parts.length > 1 ? parts[parts.length - 2] : null;
}

function mentionsWord(text: string, word: string): boolean {
  const isWordCharacter = (character: string | undefined) => character !== undefined && /[\p{L}\p{N}]/u.test(character);
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1)) {
    if (!isWordCharacter(text[at - 1]) && !isWordCharacter(text[at + word.length])) return true;
  }
  return false;
}
