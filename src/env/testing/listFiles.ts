import { readdir } from 'node:fs/promises';
import path from 'node:path';

const neverSearched = new Set(['.git', 'node_modules', '.venv', 'venv', '__pycache__', '.whetstone']);

/** Every regular file below `root`, relative to it, with `/`, sorted; dependencies and links left out. */
export async function listFiles(root: string): Promise<string[]> {
  const found: string[] = [];
  const visit = async (folder: string): Promise<void> => {
    for (const entry of await readdir(path.join(root, folder), { withFileTypes: true })) {
      const name = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory() && !neverSearched.has(entry.name)) await visit(name);
      if (entry.isFile()) found.push(name);
    }
  };
  await visit('');
  return found.sort();
}
