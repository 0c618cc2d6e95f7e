import { mkdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { badInput } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';
import { captureDirtyTree } from './captureDirtyTree.js';
import { findRepositoryRoot } from './findRepository.js';
import { explainFileError, git } from './git.js';
import { line, splitNul } from './gitOutput.js';
import { materializeTree } from './materializeTree.js';
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
  if (!headCommit) throw badInput(say`${root} has no commit yet.`, 'Commit your files first.');
  const stateFolder = await ensureStateFolder(root, options.stateFolder);
  const objectDirectory = path.join(stateFolder, 'objects');
  await mkdir(objectDirectory, { recursive: true }).catch((error: unknown) => {
    throw explainFileError(error, 'write', objectDirectory);
  });
  const alternate = path.resolve(root, line(await git({ folder: root }, ['rev-parse', '--git-path', 'objects'])));
  const own = { root, gitDir, stateFolder, objectDirectory };
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
      if (!tree) throw badInput(say`${commit} is not a commit of ${root}.`, 'Name a commit that the clone holds.');
      return tree;
    },
    materializeTree: (treeish, folder, signal) =>
      materializeTree({ ...own, alternate }, treeish, folder, signal).catch((error: unknown) => {
        throw explainFileError(error, 'write', folder);
      }),
    captureDirtyTree: (signal) => captureDirtyTree(own, [...neverSource], signal),
    trackedFiles: async () => splitNul(await read(['ls-files', '-z'])),
    dependencyFolders: async () => {
      const list = ['ls-files', '-z', '--others', '--exclude-standard', '--directory', '--no-empty-directory'];
      const ignored = splitNul(await read([...list, '--ignored'])).filter(isNamed(dependencyNames));
      const untracked = splitNul(await read(list)).filter(isNamed(neverSource));
      // Maven writes into its own: what lies there is no dependency but the user's last build.
      const ofMaven = await Promise.all(ignored.map((entry) => isBesidePom(path.join(root, entry))));
      return outermostFolders([...ignored.filter((_, index) => !ofMaven[index]), ...untracked], root);
    },
  };
}

async function repositoryName(root: string): Promise<string> {
  const url = line(await git({ folder: root }, ['config', '--default', '', '--get', 'remote.origin.url']));
  const match = /[/:]([^/:\s]+)\/([^/:\s]+?)(?:\.git)?\/?$/.exec(url);
  const isRemote = /^[a-z+]+:\/\/|^[^/\\]+@[^/\\]+:/.test(url) && !url.startsWith('file:');
  return match && isRemote ? `${match[1]}/${match[2]}` : path.basename(root);
}

const isNamed = (names: ReadonlySet<string>) => (entry: string) =>
  entry.endsWith('/') && names.has(path.posix.basename(entry));

const isBesidePom = (folder: string) =>
  stat(path.join(path.dirname(folder), 'pom.xml')).then(
    () => path.basename(folder) === 'target',
    () => false,
  );

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
