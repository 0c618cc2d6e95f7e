import type { Repository } from '../../repo/repository.js';
import type { FileChange } from '../../workspace/workspace.js';
import type { HistoryCandidate } from './candidates.js';

/** Beyond these a tree of its own is made as fast. */
const maxFiles = 1000;
const maxCharacters = 16 * 1024 * 1024;

/**
 * The changes that turn a tree (of the repository's HEAD, say) into a candidate's start tree: its parent's files with its
 * own tests. Null where these cannot say it: links, submodules, files that are no UTF-8 text, or too many of them.
 */
export async function startTreeChanges(
  repository: Repository,
  baseTree: string,
  candidate: Pick<HistoryCandidate, 'commit' | 'parent' | 'testFiles'>,
  signal?: AbortSignal,
): Promise<FileChange[] | null> {
  const isTest = new Set(candidate.testFiles);
  const differences = async (commit: string) => {
    const args = ['diff-tree', '-r', '-z', '--raw', '--no-renames', '--full-index', baseTree, `${commit}^{tree}`];
    return parseRaw(await repository.git(args, { signal }));
  };
  const [atParent, atCommit] = [await differences(candidate.parent), await differences(candidate.commit)];
  const entries = [
    ...atParent.filter(({ path }) => !isTest.has(path)),
    ...atCommit.filter(({ path }) => isTest.has(path)),
  ];
  if (entries.length > maxFiles || !entries.every(({ before, after }) => isPlain(before) && isPlain(after)))
    return null;
  const texts = await readTexts(
    repository,
    entries
      .flatMap(({ before, after }) => [before, after])
      .flatMap((side) => (side.mode === absent ? [] : [side.blob])),
    signal,
  );
  if (texts === null) return null;
  const textOf = ({ mode, blob }: Side) => (mode === absent ? null : (texts.get(blob) ?? null));
  return entries.map(({ path, before, after }) => ({
    path,
    before: textOf(before),
    after: textOf(after),
    ...(after.mode === absent ? {} : { executable: after.mode === program }),
  }));
}

const absent = '000000';
const program = '100755';

interface Side {
  readonly mode: string;
  readonly blob: string;
}

const isPlain = ({ mode }: Side) => mode === absent || mode === program || mode === '100644';

/** `:mode mode id id status`, then the path, each ended by NUL. */
function parseRaw(raw: string): { readonly path: string; readonly before: Side; readonly after: Side }[] {
  const fields = raw.split('\0').slice(0, -1);
  return fields.flatMap((field, index) => {
    if (index % 2 === 1) return [];
    const [oldMode, newMode, oldId, newId] = field.slice(1).split(' ');
    return [{ path: fields[index + 1], before: { mode: oldMode, blob: oldId }, after: { mode: newMode, blob: newId } }];
  });
}

/** Contents by their ids, all from one process; null where one is no UTF-8 text (or holds the sign that stands for that). */
async function readTexts(
  repository: Repository,
  blobs: readonly string[],
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, string> | null> {
  const ids = [...new Set(blobs)];
  if (ids.length === 0) return new Map();
  const input = ids.map((id) => `${id}\n`).join('');
  const sizes = (await repository.git(['cat-file', '--batch-check=%(objectsize)'], { input, signal })).split('\n');
  if (sizes.reduce((sum, size) => sum + Number(size), 0) > maxCharacters) return null;
  const output = await repository.git(['cat-file', '--batch'], { input, signal });
  if (output.includes('\ufffd')) return null;
  const bytes = Buffer.from(output, 'utf8');
  const texts = new Map<string, string>();
  for (let at = 0; at < bytes.length;) {
    const end = bytes.indexOf('\n', at);
    const [id, , size] = bytes.toString('utf8', at, end).split(' ');
    texts.set(id, bytes.toString('utf8', end + 1, end + 1 + Number(size)));
    at = end + 1 + Number(size) + 1;
  }
  return texts;
}
