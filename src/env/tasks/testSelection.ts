import { readFile } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';

/**
 * The test files that speak of one of the changed files by its name (an import, a path, a title). All of them where none
 * does: they may reach it through others.
 */
export async function testFilesMentioning(
  tree: string,
  testFiles: readonly string[],
  changed: readonly string[],
): Promise<readonly string[]> {
  const names = changed.map(moduleName);
  const mentions = await Promise.all(
    testFiles.map(async (file) => {
      if (changed.includes(file)) return true;
      const text = await readFile(join(tree, ...file.split('/')), 'utf8').catch(() => '');
      return names.some((name) => mentionsWord(text, name) || mentionsWord(basename(file), name));
    }),
  );
  const chosen = testFiles.filter((_, index) => mentions[index]);
  return chosen.length > 0 ? chosen : testFiles;
}

/** A module's name as tests write it: `range` for src/range.js, the folder's for an index or `__init__`. */
function moduleName(path: string): string {
  const name = basename(path, extname(path));
  const parts = path.split('/');
  return /^(index|__init__|mod|main)$/.test(name) && parts.length > 1 ? parts[parts.length - 2] : name;
}

function mentionsWord(text: string, word: string): boolean {
  const isWordCharacter = (character: string | undefined) => character !== undefined && /[\p{L}\p{N}]/u.test(character);
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1)) {
    if (!isWordCharacter(text[at - 1]) && !isWordCharacter(text[at + word.length])) return true;
  }
  return false;
}
