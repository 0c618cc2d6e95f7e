import { copyFile, mkdir, mkdtemp, rm, stat, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { badInput, infrastructure } from '../../trajectory/errors.js';
import { explainFileError, git } from './git.js';
import { findRepositoryRoot } from './findRepository.js';
import { ensureStateFolder } from './stateFolder.js';

/** The user's repository, read and never written: new objects go to `objects/` in the state folder. */
export interface Repository {
  readonly root: string;
  readonly stateFolder: string;
  readonly gitDir: string;
  /** `owner/name` of the remote `origin`, or the folder's name. */
  readonly name: string;
  readonly headCommit: string;
  /** Runs a reading git command at the root (`log`, `show`, `diff`, `cat-file` …) and gives its standard output. */
  git(args: readonly string[], options?: { readonly signal?: AbortSignal; readonly input?: string }): Promise<string>;
  /** Id of the tree of a commit. */
  treeOf(commit: string): Promise<string>;
  /**
   * Writes the files of a commit or tree into `folder`, which must be empty. Initialised submodules are filled in,
   * others stay empty folders; files marked export-ignore are there too, and large files stay their pointers.
   */
  materializeTree(treeish: string, folder: string, signal?: AbortSignal): Promise<void>;
  /** Tree of the files as they lie on the disk, untracked ones that are not ignored included. HEAD's own where clean. */
  captureDirtyTree(signal?: AbortSignal): Promise<string>;
  /** Tracked files, relative to the root, with `/`. */
  trackedFiles(): Promise<string[]>;
  /** Folders of installed dependencies that git does not track, relative to the root, with `/`; none inside another. */
  dependencyFolders(): Promise<string[]>;
}

/** Folders that hold no source even where nobody told git to ignore them. */
const neverSource = new Set(['node_modules', '.venv', 'venv']);
const dependencyNames = new Set([...neverSource, 'vendor', 'target']);

/**
 * Opens the repository at, around or just below `given`. Throws `badInput` where the path is missing, holds no or several
 * repositories, or where there is no commit.
 */
export async function openRepository(given: string, options: { stateFolder?: string } = {}): Promise<Repository> {
  const root = await findRepositoryRoot(given);
  const gitDir = line(await git({ folder: root }, ['rev-parse', '--absolute-git-dir']));
  const headCommit = line(await git({ folder: root }, ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}']));
  if (!headCommit) throw badInput(`${root} has no commit yet.`, 'Commit your files first.');
  const stateFolder = await ensureStateFolder(root, options.stateFolder);
  const objectDirectory = path.join(stateFolder, 'objects');
  await mkdir(objectDirectory, { recursive: true }).catch((error: unknown) => {
    throw explainFileError(error, 'write', objectDirectory);
  });
  const alternate = path.resolve(root, line(await git({ folder: root }, ['rev-parse', '--git-path', 'objects'])));
  const context = { folder: root, objectDirectory, alternate };
  const read: Repository['git'] = (args, extra = {}) => git({ ...context, ...extra }, args);

  return {
    root,
    stateFolder,
    gitDir,
    name: await repositoryName(root),
    headCommit,
    git: read,
    treeOf: async (commit) => {
      const tree = line(await read(['rev-parse', '--verify', '--quiet', `${commit}^{tree}`]));
      if (!tree) throw badInput(`${commit} is not a commit of ${root}.`, 'Name a commit that the clone holds.');
      return tree;
    },
    materializeTree: (treeish, folder, signal) =>
      materialize({ root, gitDir, objectDirectory, alternate }, treeish, folder, signal).catch((error: unknown) => {
        throw explainFileError(error, 'write', folder);
      }),
    captureDirtyTree: (signal) => captureDirtyTree({ folder: root, objectDirectory }, gitDir, signal),
    trackedFiles: async () => splitNul(await read(['ls-files', '-z'])),
    dependencyFolders: async () => {
      const list = ['ls-files', '-z', '--others', '--exclude-standard', '--directory', '--no-empty-directory'];
      const ignored = splitNul(await read([...list, '--ignored'])).filter(isNamed(dependencyNames));
      const untracked = splitNul(await read(list)).filter(isNamed(neverSource));
      return outermostFolders([...ignored, ...untracked], root);
    },
  };
}

const line = (text: string) => text.replace(/\r?\n$/, '');
const splitNul = (text: string) => text.split('\0').filter((part) => part !== '');

async function repositoryName(root: string): Promise<string> {
  const url = line(await git({ folder: root }, ['config', '--default', '', '--get', 'remote.origin.url']));
  const match = /[/:]([^/:\s]+)\/([^/:\s]+?)(?:\.git)?\/?$/.exec(url);
  const isRemote = /^[a-z+]+:\/\/|^[^/\\]+@[^/\\]+:/.test(url) && !url.startsWith('file:');
  return match && isRemote ? `${match[1]}/${match[2]}` : path.basename(root);
}

interface Source {
  readonly root: string;
  readonly gitDir: string;
  readonly objectDirectory?: string;
  readonly alternate?: string;
}

async function materialize(source: Source, treeish: string, folder: string, signal?: AbortSignal): Promise<void> {
  await mkdir(folder, { recursive: true });
  await withTemporaryIndex(async (indexFile) => {
    const { gitDir, objectDirectory, alternate } = source;
    const context = { folder, gitDir, workTree: folder, indexFile, objectDirectory, alternate, signal };
    await git(context, ['read-tree', treeish]);
    await git(context, ['checkout-index', '--all', '--force', '--quiet']);
  });
  for (const { commit, name } of await submodules(source, treeish)) {
    const target = path.join(folder, ...name.split('/'));
    await mkdir(target, { recursive: true });
    const initialised = await submoduleSource(path.join(source.root, ...name.split('/')), source.root);
    if (initialised && (await hasCommit(initialised, commit))) await materialize(initialised, commit, target, signal);
  }
}

/** Submodules of a tree: the commit that each is at, and its path. */
async function submodules({ root, ...objects }: Source, treeish: string) {
  const entries = splitNul(await git({ folder: root, ...objects }, ['ls-tree', '-r', '-z', treeish]));
  return entries
    .map((entry) => /^160000 commit ([0-9a-f]+)\t(.+)$/s.exec(entry))
    .filter((match) => match !== null)
    .map(([, commit, name]) => ({ commit, name }));
}

/** Null where the submodule's folder is missing or empty: git then answers for the repository around it. */
async function submoduleSource(folder: string, parentRoot: string): Promise<Source | null> {
  try {
    const root = path.resolve(line(await git({ folder }, ['rev-parse', '--show-toplevel'])));
    if (root === parentRoot) return null;
    return { root, gitDir: line(await git({ folder }, ['rev-parse', '--absolute-git-dir'])) };
  } catch {
    return null;
  }
}

const hasCommit = async ({ root, gitDir }: Source, commit: string) =>
  line(await git({ folder: root, gitDir }, ['rev-parse', '--verify', '--quiet', `${commit}^{commit}`])) !== '';

/**
 * Knows nothing of the repository's own objects, so that it cannot touch them: trees are written anew, and files that the
 * index holds unchanged need not be read.
 */
async function captureDirtyTree(
  context: { folder: string; objectDirectory: string },
  gitDir: string,
  signal?: AbortSignal,
): Promise<string> {
  return withTemporaryIndex(async (indexFile) => {
    // The user's index carries what its stat cache knows and which files it skips on purpose.
    await copyIndex(path.join(gitDir, 'index'), indexFile);
    const own = { ...context, indexFile, signal };
    const dependencies = [...neverSource].map((name) => `:(exclude,glob)**/${name}/**`);
    await git(own, ['add', '--all', '--', '.', ...dependencies]);
    const tree = line(await git(own, ['write-tree', '--missing-ok']));
    if (!tree)
      throw infrastructure(`The uncommitted files of ${context.folder} could not be read.`, 'Commit them first.');
    return tree;
  });
}

/**
 * git takes a file for unchanged only where it is older than the index: the copy must not look newer than the original.
 * A repository without an index (all files deleted, or just cloned without checkout) gets none.
 */
async function copyIndex(source: string, target: string): Promise<void> {
  const found = await stat(source).catch(() => null);
  if (!found) return;
  await copyFile(source, target);
  const before = found.mtimeMs / 1000 - 1;
  await utimes(target, before, before);
}

async function withTemporaryIndex<T>(use: (indexFile: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(path.join(tmpdir(), 'whetstone-index-'));
  try {
    return await use(path.join(folder, 'index'));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const isNamed = (names: ReadonlySet<string>) => (entry: string) =>
  entry.endsWith('/') && names.has(path.posix.basename(entry));

/** Folders (given with a `/` at the end) that exist and do not lie in another of them. */
async function outermostFolders(entries: readonly string[], root: string): Promise<string[]> {
  const found: string[] = [];
  for (const folder of entries.map((entry) => entry.slice(0, -1)).sort()) {
    if (found.some((outer) => folder.startsWith(`${outer}/`))) continue;
    const isFolder = await stat(path.join(root, folder)).then(
      (entryStat) => entryStat.isDirectory(),
      () => false,
    );
    if (isFolder) found.push(folder);
  }
  return found;
}
