import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';

/** A source file of a package whose licence allows any use. */
export interface CorpusFile {
  readonly package: string;
  readonly licence: string;
  readonly path: string;
  readonly text: string;
}

const LICENCES = new Set(['MIT', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', '0BSD']);

/** Sources in JavaScript and TypeScript of the packages in `node_modules`, written by hand as far as one can tell. */
export async function nodeModulesSources(root: string): Promise<CorpusFile[]> {
  const files: CorpusFile[] = [];
  for (const folder of await packageFolders(root)) {
    const manifest = await readJson(join(folder, 'package.json'));
    const licence = typeof manifest?.['license'] === 'string' ? manifest['license'] : '';
    if (manifest === null || !LICENCES.has(licence)) continue;
    for (const path of (await filesUnder(folder)).slice(0, 40)) {
      const text = await readFile(path, 'utf8');
      if (!looksWritten(text)) continue;
      files.push({
        package: `${String(manifest['name'])}@${String(manifest['version'])}`,
        licence,
        path: relative(root, path),
        text,
      });
    }
  }
  return files;
}

/** Modules of the Python packages named, below the folder of installed packages. */
export async function sitePackagesSources(
  root: string,
  packages: Readonly<Record<string, string>>,
): Promise<CorpusFile[]> {
  const files: CorpusFile[] = [];
  for (const [name, licence] of Object.entries(packages)) {
    for (const path of (await filesUnder(join(root, name))).slice(0, 80)) {
      const text = await readFile(path, 'utf8');
      if (looksWritten(text)) files.push({ package: name, licence, path: relative(root, path), text });
    }
  }
  return files;
}

async function packageFolders(root: string): Promise<string[]> {
  const names = (await readdir(root)).filter((name) => !name.startsWith('.')).sort();
  const folders: string[] = [];
  for (const name of names) {
    if (name.startsWith('@'))
      folders.push(...(await readdir(join(root, name))).sort().map((inner) => join(root, name, inner)));
    else folders.push(join(root, name));
  }
  return folders;
}

async function filesUnder(folder: string, depth = 0): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const found: string[] = [];
  for (const entry of [...entries].sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (
      entry.isDirectory() &&
      depth < 4 &&
      !/^(node_modules|dist|build|umd|bundle.*|min|types|_vendor|vendor)$/.test(entry.name)
    ) {
      found.push(...(await filesUnder(join(folder, entry.name), depth + 1)));
    } else if (/\.(m?js|cjs|ts|py)$/.test(entry.name) && !/\.(d\.[cm]?ts|min\.js)$/.test(entry.name)) {
      found.push(join(folder, entry.name));
    }
  }
  return found;
}

/** Not minified, not generated, not data. */
function looksWritten(text: string): boolean {
  if (text.length < 300 || text.length > 60_000) return false;
  const lines = text.split('\n');
  return (
    text.length / lines.length < 60 &&
    !lines.some((line) => line.length > 300) &&
    !/@generated|auto-?generated/i.test(text)
  );
}

async function readJson(path: string): Promise<Record<string, unknown> | null> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Record<string, unknown>;
  } catch {
    return null;
  }
}
