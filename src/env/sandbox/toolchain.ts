import { execFile } from 'node:child_process';
import { realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { findJava, type JavaToolchain } from './javaToolchain.js';
import { findGo, findRust } from './nativeToolchains.js';
import { findProgram, isInside } from './programs.js';

export { findProgram, isInside } from './programs.js';

const run = promisify(execFile);

/** The programs that a repository's commands run with, and the folders that they need to be seen. Paths are absolute. */
export interface Toolchain {
  readonly node: string | null;
  readonly python: string | null;
  readonly java: JavaToolchain | null;
  readonly go: string | null;
  readonly cargo: string | null;
  readonly launcher: Launcher;
  /** Folders of PATH, a version manager's shims replaced by the folder of the Python that they choose. */
  readonly path: readonly string[];
  /** Installation folders under the user's home, to be shown read-only. */
  readonly folders: readonly string[];
  /** Variables that programs need to find what is installed for the user, since HOME is another folder. */
  readonly env: Readonly<Record<string, string>>;
}

/** Runs launchers of ours, given as text: Node, or the editor itself where there is none. */
export interface Launcher {
  readonly program: string;
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
  const [go, rust] = await Promise.all([findGo(folder, entries), findRust(folder, entries)]);
  const pythonFolder = python && path.dirname(python.executable);
  // What a version manager chose for this folder stands before its shims, which would choose again.
  const searched = [
    ...[go, rust].flatMap((found) => (found ? [path.dirname(found.program)] : [])),
    ...entries.map((entry) => (pythonFolder && isShims(entry) ? pythonFolder : entry)),
  ];
  const candidates = [
    ...searched,
    ...(node ? [path.dirname(await realpath(node))] : []),
    ...(python ? python.prefixes : []),
    ...(java ? java.programFolders : []),
    ...(await virtualEnvironmentBase(folder)),
    ...(node ? [] : [path.dirname(process.execPath)]),
  ];
  const shown = new Set<string>();
  for (const candidate of candidates) {
    for (const folderToShow of installationFolders(path.resolve(candidate), homes)) {
      if (await isFolder(folderToShow)) shown.add(folderToShow);
    }
  }
  if (python && (await isFolder(python.userSite))) shown.add(python.userSite);
  for (const whole of [...(go?.folders ?? []), ...(rust?.folders ?? [])]) {
    if (homes.some((home) => isInside(whole, home)) && (await isFolder(whole))) shown.add(whole);
  }
  for (const cache of java?.caches ?? []) if (await isFolder(cache)) shown.add(cache);
  return {
    node,
    python: python?.executable ?? null,
    java,
    go: go?.program ?? null,
    cargo: rust?.program ?? null,
    launcher: node ? { program: node, env: {} } : { program: process.execPath, env: { ELECTRON_RUN_AS_NODE: '1' } },
    path: [...new Set(searched)],
    folders: withoutNested([...shown]),
    env: {
      ...(python ? { PYTHONUSERBASE: python.userBase } : {}),
      ...(java ? { JAVA_HOME: java.home } : {}),
      ...go?.env,
      ...rust?.env,
    },
  };
}

const isShims = (folder: string) => path.basename(folder) === 'shims';
const isFolder = (name: string) =>
  stat(name).then(
    (found) => found.isDirectory(),
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

const withoutNested = (folders: readonly string[]) =>
  folders.filter((folder) => !folders.some((other) => other !== folder && isInside(folder, other))).sort();
