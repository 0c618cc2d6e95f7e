import { statfsSync } from 'node:fs';
import { devNull } from 'node:os';
import { GitError, simpleGit } from 'simple-git';
import { badInput, cancelled, infrastructure } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';

/** What of git's surroundings a command is given, beside its folder. Paths are absolute. */
export interface GitContext {
  readonly folder: string;
  readonly gitDir?: string;
  readonly workTree?: string;
  readonly indexFile?: string;
  /** Where new objects go, in the place of the repository's own. */
  readonly objectDirectory?: string;
  /** Where objects are read from beside that. Writing one that is there already would touch its time of change. */
  readonly alternate?: string;
  /** Ignore the configuration of the user and of the machine. */
  readonly hermetic?: boolean;
  readonly author?: { readonly name: string; readonly email: string; readonly date: string };
  readonly input?: string;
  readonly signal?: AbortSignal;
}

/**
 * Nothing that a command of ours does may start a program named by a repository or write beside what it was asked to:
 * no hooks, no file-system monitor, no large-file filter (which keeps a store of its own under `.git/lfs`), no cleaning up.
 */
const quietConfig = [
  `core.hooksPath=${devNull}`,
  'core.fsmonitor=false',
  'core.untrackedCache=false',
  'core.splitIndex=false',
  'core.sparseCheckout=false',
  'core.quotePath=false',
  'core.autocrlf=false',
  'filter.lfs.required=false',
  'filter.lfs.clean=',
  'filter.lfs.smudge=',
  'filter.lfs.process=',
  'advice.addEmbeddedRepo=false',
  'gc.auto=0',
  'maintenance.auto=false',
];

/** All that git needs of the user's environment: where programs and configuration lie. */
const inheritedNames = [
  ...['PATH', 'HOME', 'XDG_CONFIG_HOME', 'TMPDIR'],
  ...[
    'Path',
    'SystemRoot',
    'USERPROFILE',
    'HOMEDRIVE',
    'HOMEPATH',
    'APPDATA',
    'LOCALAPPDATA',
    'ProgramData',
    'TEMP',
    'TMP',
  ],
].filter((name) => process.env[name] !== undefined);

/** Runs one git command and gives its standard output. Never takes a lock or refreshes an index that is not its own. */
export async function git(context: GitContext, args: readonly string[]): Promise<string> {
  const variables = gitVariables(context);
  const inherited = Object.fromEntries(inheritedNames.map((name) => [name, process.env[name]]));
  try {
    return await simpleGit({
      baseDir: context.folder,
      config: quietConfig,
      trimmed: false,
      allowEnvironment: Object.keys(variables),
      unsafe: {
        allowUnsafeHooksPath: true,
        allowUnsafeFsMonitor: true,
        allowUnsafeFilter: true,
        allowUnsafeConfigPaths: true,
        allowUnsafeTemplateDir: true,
        allowUnsafeEditor: true,
        allowUnsafePager: true,
        allowUnsafeAskPass: true,
        allowUnsafeSshCommand: true,
      },
      ...(context.input === undefined ? {} : { input: () => context.input }),
      ...(context.signal ? { abort: context.signal } : {}),
    })
      .env({ ...inherited, ...variables })
      .raw([...args]);
  } catch (error) {
    throw explain(error, args, context);
  }
}

function gitVariables(context: GitContext): Record<string, string> {
  const variables: Record<string, string> = {
    // Failures are told apart by git's own words.
    LC_ALL: 'C',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    GIT_LFS_SKIP_SMUDGE: '1',
  };
  if (context.gitDir) variables.GIT_DIR = context.gitDir;
  if (context.workTree) variables.GIT_WORK_TREE = context.workTree;
  if (context.indexFile) variables.GIT_INDEX_FILE = context.indexFile;
  if (context.objectDirectory) variables.GIT_OBJECT_DIRECTORY = context.objectDirectory;
  // In quotes, as C writes a string: then a path may hold the character that divides the list.
  if (context.alternate) variables.GIT_ALTERNATE_OBJECT_DIRECTORIES = JSON.stringify(context.alternate);
  if (context.hermetic) Object.assign(variables, { GIT_CONFIG_GLOBAL: devNull, GIT_CONFIG_NOSYSTEM: '1' });
  if (context.author) {
    const { name, email, date } = context.author;
    Object.assign(variables, {
      GIT_AUTHOR_NAME: name,
      GIT_AUTHOR_EMAIL: email,
      GIT_AUTHOR_DATE: date,
      GIT_COMMITTER_NAME: name,
      GIT_COMMITTER_EMAIL: email,
      GIT_COMMITTER_DATE: date,
    });
  }
  return variables;
}

/** Tells the failures that a person can mend from those that they cannot. */
function explain(error: unknown, args: readonly string[], context: GitContext): Error {
  if (context.signal?.aborted) return cancelled();
  const text = error instanceof Error ? error.message.trim() : String(error);
  if (/\bENOENT\b/.test(text) && /spawn/.test(text)) {
    return badInput('git was not found.', 'Install git and make sure that it is on PATH.', error);
  }
  if (/dubious ownership/.test(text)) {
    return badInput(
      say`git refuses to read ${context.folder}, since another user owns it.`,
      say`Run: git config --global --add safe.directory '${context.folder}'`,
      error,
    );
  }
  if (diskIsFull.test(text) || (/unable to (write|create)/.test(text) && isFull(context.folder))) {
    return diskFull(context.folder, error);
  }
  if (error instanceof GitError) {
    const reason = text.split('\n').find((line) => /^(fatal|error):/.test(line)) ?? text.split('\n')[0];
    return infrastructure(say`git ${args[0]} failed in ${context.folder}: ${reason}.`, '', error);
  }
  return error instanceof Error ? error : new Error(text);
}

const diskIsFull = /No space left on device|Disk quota exceeded/i;

/** git does not always say why it could not write. */
function isFull(folder: string): boolean {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize < 64 * 1024;
}

const diskFull = (where: string, cause?: unknown) =>
  badInput(
    say`The disk that holds ${where} is full.`,
    'Free some space (deleting .whetstone/cache is safe) and try again.',
    cause,
  );

/** Turns a failing file operation into one clear line; other errors pass through unchanged. */
export function explainFileError(error: unknown, what: 'read' | 'write', where: string): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  // A program that copies for us says it in words.
  const words = error instanceof Error ? error.message : '';
  if (code === 'ENOSPC' || code === 'EDQUOT' || diskIsFull.test(words)) return diskFull(where, error);
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
    const words =
      what === 'read'
        ? say`Could not read ${where}: permission denied.`
        : say`Could not write ${where}: permission denied.`;
    return badInput(words, 'Make the folder writable for you.', error);
  }
  return error;
}
