import type { Repository } from '../../repo/repository.js';

/** A commit as `git log` tells it. */
export interface Commit {
  readonly id: string;
  readonly parents: readonly string[];
  /** ISO 8601. */
  readonly date: string;
  readonly message: string;
  readonly files: readonly ChangedFile[];
}

/** One changed file, a rename taken as one. Modes are git's octal ones. */
export interface ChangedFile {
  readonly status: string;
  readonly path: string;
  readonly oldPath: string;
  readonly oldMode: string;
  readonly newMode: string;
  /** Ids of the contents; null where there is no file on that side. */
  readonly oldBlob: string | null;
  readonly newBlob: string | null;
}

/** No diff of ours depends on the user's settings or starts a program of theirs. */
const PLAIN_DIFF = ['--no-ext-diff', '--no-textconv', '--no-color', '--src-prefix=a/', '--dst-prefix=b/'];

/** The newest `limit` commits that lead to `head`, newest first. Of merges the files are left out. */
export async function listCommits(
  repository: Repository,
  head: string,
  limit: number,
  signal?: AbortSignal,
): Promise<Commit[]> {
  const log = await repository.git(
    [
      'log',
      '-z',
      '--raw',
      '--no-abbrev',
      '-M',
      '--no-diff-merges',
      '--no-show-signature',
      '--no-color',
      `--max-count=${limit}`,
      '--format=%x1e%H%x1f%P%x1f%cI%x1f%B%x1f',
      head,
      '--',
    ],
    { signal },
  );
  return log
    .split('\x1e')
    .slice(1)
    .map((record) => {
      const [id, parents, date, message, raw = ''] = record.split('\x1f');
      const files = parseRaw(raw);
      return { id, parents: parents.split(' ').filter((parent) => parent !== ''), date, message, files };
    });
}

/** git's raw form: `:mode mode id id status`, then a path, or two where the file was renamed, each ended by NUL. */
function parseRaw(raw: string): ChangedFile[] {
  const fields = raw.split('\0').map((part) => part.replace(/^\n(?=:)/, ''));
  const files: ChangedFile[] = [];
  for (let index = fields.findIndex((part) => part.startsWith(':')); fields[index]?.startsWith(':');) {
    const [oldMode, newMode, oldId, newId, status] = fields[index].slice(1).split(' ');
    const renamed = /^[RC]/.test(status);
    const oldPath = fields[index + 1];
    const path = renamed ? fields[index + 2] : oldPath;
    const [oldBlob, newBlob] = [oldId, newId].map((id) => (/^0+$/.test(id) ? null : id));
    files.push({ status: status[0], path, oldPath, oldMode, newMode, oldBlob, newBlob });
    index += renamed ? 3 : 2;
  }
  return files;
}

/** The patch between two commits, narrowed to some files; renames appear as a deletion and a new file. */
export async function patchOf(
  repository: Repository,
  parent: string,
  commit: string,
  paths: readonly string[],
  extra: readonly string[] = [],
): Promise<string> {
  const literal = paths.map((path) => `:(top,literal)${path}`);
  return repository.git([
    'diff-tree',
    '-r',
    '-p',
    '--no-renames',
    '--full-index',
    ...PLAIN_DIFF,
    ...extra,
    parent,
    commit,
    '--',
    ...literal,
  ]);
}
