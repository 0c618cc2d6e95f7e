import { getHFHubCachePath, getRepoFolderName } from '@huggingface/hub';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, link, mkdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type HubModel, hubModelName } from './modelName.js';

/**
 * The cache that Hugging Face's tools share (HF_HUB_CACHE, HF_HOME): blobs by checksum, refs from a revision to its
 * commit, and snapshots, folders of links to blobs. What Python has fetched is found here, and the other way round.
 */
export class HubCache {
  private readonly folder: string;

  constructor(
    repo: string,
    readonly root: string = getHFHubCachePath(),
  ) {
    this.folder = path.join(root, getRepoFolderName({ type: 'model', name: repo }));
  }

  /** The commit that a revision was last seen at; null where it was never fetched. */
  async commitOf(revision: string): Promise<string | null> {
    if (isCommit(revision)) return revision;
    const commit = await readFile(this.refOf(revision), 'utf8').catch(() => '');
    return isCommit(commit.trim()) ? commit.trim() : null;
  }

  async remember(revision: string, commit: string): Promise<void> {
    if (isCommit(revision)) return;
    const ref = this.refOf(revision);
    await mkdir(path.dirname(ref), { recursive: true });
    const temporary = besides(ref);
    await writeFile(temporary, commit);
    await rename(temporary, ref);
  }

  snapshot(commit: string): string {
    return path.join(this.folder, 'snapshots', commit);
  }

  blob(checksum: string): string {
    return path.join(this.folder, 'blobs', checksum);
  }

  /** Puts a blob into a snapshot under its name. */
  async place(commit: string, name: string, checksum: string): Promise<void> {
    const pointer = path.join(this.snapshot(commit), name);
    if (existsSync(pointer)) return;
    await mkdir(path.dirname(pointer), { recursive: true });
    const blob = this.blob(checksum);
    const made = besides(pointer);
    const ways = [
      () => symlink(path.relative(path.dirname(pointer), blob), made),
      // Windows gives symbolic links to few users.
      () => link(blob, made),
      () => copyFile(blob, made),
    ];
    for (const way of ways) {
      const failure: unknown = await way().then(
        () => null,
        (error: unknown) => error,
      );
      // Another process may have put it there; a link to a blob that was taken away is replaced.
      if (failure === null) return rename(made, pointer);
      if (way === ways.at(-1)) throw failure;
    }
  }

  private refOf(revision: string): string {
    return path.join(this.folder, 'refs', ...revision.split('/'));
  }
}

/** A name beside a file, for what is renamed to it once it is whole. */
const besides = (file: string): string => `${file}.${randomUUID()}.tmp`;

export const isCommit = (revision: string): boolean => /^[0-9a-f]{40}$/.test(revision);

/** A model of the hub on the disk. */
export interface FetchedModel {
  /** A snapshot's folder, or a GGUF file. */
  readonly place: string;
  /** Its name with the commit, which means the same model for ever. */
  readonly name: string;
}

/** A model as it lies in the cache; null where it was not fetched whole. Reads no network. */
export async function cachedModel(model: HubModel, cache = new HubCache(model.repo)): Promise<FetchedModel | null> {
  const commit = await cache.commitOf(model.revision);
  if (commit === null) return null;
  const snapshot = cache.snapshot(commit);
  const has = (name: string) => existsSync(path.join(snapshot, name));
  const name = hubModelName({ ...model, revision: commit });
  if (model.file !== null) return has(model.file) ? { place: path.join(snapshot, model.file), name } : null;
  const needed = ['config.json', 'tokenizer.json', 'tokenizer_config.json', ...(await weightNames(snapshot))];
  return needed.every(has) ? { place: snapshot, name } : null;
}

/** The files of weights that a snapshot needs: the shards that its index names, else the single file. */
export async function weightNames(snapshot: string): Promise<string[]> {
  const index = path.join(snapshot, indexFile);
  if (!existsSync(index)) return [singleFile];
  return [indexFile, ...shardsOf(await readFile(index, 'utf8').catch(() => ''))];
}

export const singleFile = 'model.safetensors';
export const indexFile = 'model.safetensors.index.json';

/** The files that an index names; what is wrong with it is told when the model is loaded. */
export function shardsOf(index: string): string[] {
  try {
    const { weight_map: map } = JSON.parse(index) as { weight_map?: unknown };
    const names = typeof map === 'object' && map !== null ? Object.values(map) : [];
    return [
      ...new Set(names.filter((name) => typeof name === 'string' && /^[\w.-]+\.safetensors$/.test(name))),
    ] as string[];
  } catch {
    return [];
  }
}
