import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { NPM_PACKAGES, PYTHON_PACKAGES } from './packages.js';

/** A source file of a package whose licence allows any use. */
export interface CorpusFile {
  readonly package: string;
  readonly licence: string;
  readonly path: string;
  readonly text: string;
}

const FILES_PER_PACKAGE = 250;
const LICENCES = new Set(['MIT', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', '0BSD']);

/** The sources of the packages listed, and of npm's own dependencies of them, installed below `folder` where they are not. */
export async function permissiveSources(folder: string): Promise<CorpusFile[]> {
  const [npm, python] = [join(folder, 'npm'), join(folder, 'python')];
  await installed(npm, async (place) => {
    await writeFile(join(place, 'package.json'), '{ "private": true }');
    const specs = Object.entries(NPM_PACKAGES).map(([name, version]) => `${name}@${version}`);
    execFileSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--no-save', ...specs], {
      cwd: place,
      stdio: 'inherit',
    });
  });
  await installed(python, (place) => {
    const specs = Object.entries(PYTHON_PACKAGES).map(([name, { version }]) => `${name}==${version}`);
    execFileSync(
      'python3',
      ['-m', 'pip', 'install', '--no-deps', '--no-compile', '--quiet', '--target', place, ...specs],
      { stdio: 'inherit' },
    );
  });
  return [...(await npmSources(join(npm, 'node_modules'))), ...(await pythonSources(python))];
}

/** Whole or absent: installed beside, then renamed. */
async function installed(folder: string, install: (place: string) => Promise<void> | void): Promise<void> {
  if (existsSync(folder)) return;
  const place = `${folder}.next`;
  await rm(place, { recursive: true, force: true });
  await mkdir(place, { recursive: true });
  await install(place);
  await rename(place, folder);
}

/** Sources in JavaScript and TypeScript, written by hand as far as one can tell. */
async function npmSources(root: string): Promise<CorpusFile[]> {
  const files: CorpusFile[] = [];
  for (const folder of await packageFolders(root)) {
    const manifest = await readJson(join(folder, 'package.json'));
    const licence = typeof manifest?.['license'] === 'string' ? manifest['license'] : '';
    if (manifest === null || !LICENCES.has(licence)) continue;
    for (const path of (await filesUnder(folder)).slice(0, FILES_PER_PACKAGE)) {
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

/** Modules of the Python packages; pip's RECORD says which files are whose. */
async function pythonSources(root: string): Promise<CorpusFile[]> {
  const files: CorpusFile[] = [];
  const wheels = (await readdir(root)).filter((name) => name.endsWith('.dist-info'));
  for (const [name, { version, licence }] of Object.entries(PYTHON_PACKAGES)) {
    const wheel = wheels.find(
      (folder) => folder.toLowerCase() === `${name.replaceAll('-', '_')}-${version}.dist-info`.toLowerCase(),
    );
    if (wheel === undefined) throw new Error(`${root} holds no ${name} ${version}: delete the folder and run again.`);
    const modules = (await readFile(join(root, wheel, 'RECORD'), 'utf8'))
      .split('\n')
      .map((line) => line.split(',')[0]!)
      .filter((path) => path.endsWith('.py') && !/(^|\/)(_?vendor|tests?|\.\.)\//.test(path))
      .sort();
    for (const path of modules.slice(0, 2 * FILES_PER_PACKAGE)) {
      const text = await readFile(join(root, path), 'utf8');
      if (looksWritten(text)) files.push({ package: `${name}==${version}`, licence, path, text });
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
      !/^(node_modules|dist|build|umd|bundle.*|min|types|vendor|locales?)$/.test(entry.name)
    ) {
      found.push(...(await filesUnder(join(folder, entry.name), depth + 1)));
    } else if (/\.(m?js|cjs|ts)$/.test(entry.name) && !/\.(d\.[cm]?ts|min\.js)$/.test(entry.name)) {
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
