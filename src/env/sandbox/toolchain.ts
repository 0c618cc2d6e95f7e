import { execFile } from 'node:child_process';
import { access, constants, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { findJava, type JavaToolchain } from './javaToolchain.js';

const run = promisify(execFile);

/** The programs that a repository's commands run with, and the folders that they need to be seen. Paths are absolute. */
export interface Toolchain {
  readonly node: string | null;
  readonly python: string | null;
  readonly java: JavaToolchain | null;
  /** Folders of PATH, a version manager's shims replaced by the folder of the Python that they choose. */
  readonly path: readonly string[];
  /** Installation folders under the user's home, to be shown read-only. */
  readonly folders: readonly string[];
  /** Variables that programs need to find what is installed for the user, since HOME is another folder. */
  readonly env: Readonly<Record<string, string>>;
}

/** Names under a home folder that are never shown, whatever stands in PATH. */
const secretNames = new Set(['.ssh', '.config', '.aws', '.azure', '.gnupg', '.kube', '.docker', '.claude', '.netrc']);

/** Version managers whose whole folder is needed and holds no credentials. */
const managerNames = new Set([
  '.pyenv',
  '.nvm',
  '.fnm',
  '.volta',
  '.asdf',
  '.sdkman',
  '.nodenv',
  '.rustup',
  'miniconda3',
  'anaconda3',
]);

/** Finds the toolchain as the user has it in `folder` (a version manager may choose by the folder). */
export async function findToolchain(folder: string, homes: readonly string[]): Promise<Toolchain> {
  const entries = [...new Set((process.env.PATH ?? '').split(path.delimiter))].filter((entry) =>
    path.isAbsolute(entry),
  );
  const node = (await findProgram('node', entries)) ?? (process.versions.electron ? null : process.execPath);
  const python = await findPython(folder, entries);
  const java = await findJava((name) => findProgram(name, entries));
  const pythonFolder = python && path.dirname(python.executable);
  const searched = entries.map((entry) => (pythonFolder && isShims(entry) ? pythonFolder : entry));
  const candidates = [
    ...searched,
    ...(node ? [path.dirname(await realpath(node))] : []),
    ...(python ? python.prefixes : []),
    ...(java ? java.programFolders : []),
    ...(await virtualEnvironmentBase(folder)),
  ];
  const shown = new Set<string>();
  for (const candidate of candidates) {
    for (const folderToShow of installationFolders(path.resolve(candidate), homes)) {
      if (await isFolder(folderToShow)) shown.add(folderToShow);
    }
  }
  if (python && (await isFolder(python.userSite))) shown.add(python.userSite);
  for (const cache of java?.caches ?? []) if (await isFolder(cache)) shown.add(cache);
  return {
    node,
    python: python?.executable ?? null,
    java,
    path: [...new Set(searched)],
    folders: withoutNested([...shown]),
    env: {
      ...(python ? { PYTHONUSERBASE: python.userBase } : {}),
      ...(java ? { JAVA_HOME: java.home } : {}),
    },
  };
}

/** First executable file of that name in the folders. */
export async function findProgram(name: string, folders: readonly string[]): Promise<string | null> {
  const suffixes = process.platform === 'win32' ? ['.exe', '.cmd'] : [''];
  for (const folder of folders) {
    for (const suffix of suffixes) {
      const candidate = path.join(folder, name + suffix);
      const usable = await access(candidate, constants.X_OK).then(
        () => isFile(candidate),
        () => false,
      );
      if (usable) return candidate;
    }
  }
  return null;
}

const isShims = (folder: string) => path.basename(folder) === 'shims';
const isFolder = (name: string) =>
  stat(name).then(
    (found) => found.isDirectory(),
    () => false,
  );
const isFile = (name: string) =>
  stat(name).then(
    (found) => found.isFile(),
    () => false,
  );

/** Asks Python itself, since what PATH names may be a version manager's shim. */
async function findPython(folder: string, entries: readonly string[]) {
  for (const name of ['python3', 'python']) {
    const program = await findProgram(name, entries);
    if (!program) continue;
    const question =
      'import site, sys; ' +
      'print(sys.executable, sys.prefix, sys.base_prefix, site.getuserbase(), site.getusersitepackages(), sep="\\n")';
    const answer = await run(program, ['-I', '-c', question], { cwd: folder, timeout: 20_000 }).catch(() => null);
    const rows = answer?.stdout.trimEnd().split(/\r?\n/) ?? [];
    if (rows.length !== 5) continue;
    const [executable, prefix, basePrefix, userBase, userSite] = rows;
    return { executable, prefixes: [prefix, basePrefix], userBase, userSite };
  }
  return null;
}

/** Installation that the repository's own virtual environment was made from. */
async function virtualEnvironmentBase(folder: string): Promise<string[]> {
  const programs = await Promise.all(
    ['.venv', 'venv'].map((name) => realpath(path.join(folder, name, 'bin', 'python')).catch(() => null)),
  );
  return programs.filter((program) => program !== null).map((program) => path.dirname(program));
}

/**
 * What must be shown of a home for programs in `folder` to work: a version manager whole, an installation whose programs
 * lie in its `bin`, or else the folder alone. Empty outside of the homes, and for folders that may hold secrets.
 */
export function installationFolders(folder: string, homes: readonly string[]): string[] {
  const home = homes.find((candidate) => isInside(folder, candidate));
  if (!home) return [];
  const parts = path.relative(home, folder).split(path.sep);
  if (parts[0] === '' || secretNames.has(parts[0])) return [];
  if (managerNames.has(parts[0])) return [path.join(home, parts[0])];
  // Cargo keeps its credentials beside its programs, and its programs are links into rustup's folder.
  if (parts[0] === '.cargo') return parts[1] === 'bin' ? [folder, path.join(home, '.rustup')] : [];
  const prefix = path.dirname(folder);
  const isInstallation =
    parts[parts.length - 1] === 'bin' && parts.length > 1 && folder !== path.join(home, '.local', 'bin');
  return [isInstallation ? prefix : folder];
}

export function isInside(inner: string, outer: string): boolean {
  const relative = path.relative(outer, inner);
  return relative === '' || (!relative.startsWith('..') && !path.isAbsolute(relative));
}

const withoutNested = (folders: readonly string[]) =>
  folders.filter((folder) => !folders.some((other) => other !== folder && isInside(folder, other))).sort();
