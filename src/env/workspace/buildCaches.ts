import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, stat, symlink, utimes } from 'node:fs/promises';
import path from 'node:path';
import type { Janitor } from '../sandbox/janitorClient.js';
import { removeFolder } from '../sandbox/removeFolder.js';
import type { Mount } from '../sandbox/sandbox.js';
import { listFiles } from '../testing/listFiles.js';
import type { BuildCache, DetectedRunner } from '../testing/testRunner.js';
import { copyTree } from './copyTree.js';
import { buildCachesFolder } from './stateFolders.js';

/** Changed whenever what lies in a filled cache changes. */
const layout = 1;
const keptCaches = 4;

/** Where commands find a cache: mounts, and the variables that lead the tools there. */
export interface CacheView {
  readonly readOnly: readonly Mount[];
  readonly writable: readonly Mount[];
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Caches of what compilers built, so that a run does not begin with the standard library. Each is filled once, from the base
 * tree, which the user trusts. A workspace then gets a folder of links to the filled cache's files: what it builds itself
 * lands in its own folder and goes with it, and the filled files are mounted read-only, so that nothing that code under
 * test writes is read by a later run. (Where a sandbox cannot mount, or there is none, only that the tools never write to a
 * file that is in their cache already keeps them.)
 */
export class BuildCaches {
  private readonly making = new Map<string, Promise<string>>();
  private readonly places = new Map<string, Promise<string>>();
  private readonly folder: string;

  /** `fill` runs the cache's own command with `folder` in the cache's place. */
  constructor(
    private readonly parts: {
      readonly stateFolder: string;
      readonly janitor: Janitor;
      /** Can a folder be shown at another path? */
      readonly remounts: boolean;
      readonly template: () => Promise<string>;
      readonly fill: (part: DetectedRunner, folder: string, signal?: AbortSignal) => Promise<void>;
    },
  ) {
    this.folder = buildCachesFolder(parts.stateFolder);
  }

  /** The filled cache of a runner, filled now where it is not; null for a runner without one. */
  async get(part: DetectedRunner, signal?: AbortSignal): Promise<string | null> {
    const { cache } = part.runner;
    if (!cache) return null;
    const target = await this.placeOf(part, cache);
    if (await exists(target)) {
      const now = new Date();
      await utimes(target, now, now).catch(() => undefined);
      return target;
    }
    const making = this.making.get(target) ?? this.make(part, cache, target, signal);
    this.making.set(target, making);
    try {
      return await making;
    } finally {
      this.making.delete(target);
    }
  }

  /** As `get`, but null where it has not been filled yet. */
  async peek(part: DetectedRunner): Promise<string | null> {
    const { cache } = part.runner;
    if (!cache) return null;
    const target = await this.placeOf(part, cache);
    return (await exists(target)) ? target : null;
  }

  /** Makes a workspace's own view of a filled cache, in `folder`, which must not exist. */
  async open(cache: BuildCache, filled: string, folder: string): Promise<CacheView> {
    await copyTree(path.join(filled, 'links'), folder);
    return this.view(cache, folder, filled);
  }

  /** A cache that lies in `folder` alone. */
  view(cache: BuildCache, folder: string, filled?: string): CacheView {
    const target = this.parts.remounts ? `/tmp/whetstone-cache/${cache.name}` : folder;
    const files =
      filled === undefined ? [] : [{ source: path.join(filled, 'files'), target: this.linked(cache, filled) }];
    return { readOnly: files, writable: [{ source: folder, target }], env: cache.env(target) };
  }

  /** The filled files' path as the links name it. */
  private linked(cache: BuildCache, filled: string): string {
    return this.parts.remounts ? `/tmp/whetstone-cache/${cache.name}.filled` : path.join(filled, 'files');
  }

  /** Told by all that decides what lies in it; found once, since the base tree stays. */
  private placeOf(part: DetectedRunner, cache: BuildCache): Promise<string> {
    const key = JSON.stringify([cache.name, part.root]);
    const place = this.places.get(key) ?? this.findPlace(part, cache);
    this.places.set(key, place);
    place.catch(() => this.places.delete(key));
    return place;
  }

  private async findPlace(part: DetectedRunner, cache: BuildCache): Promise<string> {
    const tree = await this.parts.template();
    const digest = createHash('sha256');
    const tool = await stat(cache.tool).catch(() => null);
    digest.update(
      JSON.stringify([layout, cache.name, this.parts.remounts, part.root, cache.fill(part), tool?.size, tool?.mtimeMs]),
    );
    for (const file of (await listFiles(tree)).filter((name) => cache.isInput(name))) {
      digest.update(JSON.stringify([file, await readFile(path.join(tree, file), 'utf8')]));
    }
    return path.join(this.folder, digest.digest('hex').slice(0, 32));
  }

  private async make(part: DetectedRunner, cache: BuildCache, target: string, signal?: AbortSignal): Promise<string> {
    const draft = `${target}.${process.pid}-${randomUUID()}`;
    this.parts.janitor.addFolder(draft);
    try {
      const files = path.join(draft, 'files');
      await mkdir(files, { recursive: true });
      await this.parts.fill(part, files, signal);
      await linkTree(files, path.join(draft, 'links'), this.linked(cache, target));
      await rename(draft, target).catch(async (error: unknown) => {
        // Another process was faster.
        if (!(await exists(target))) throw error;
      });
    } finally {
      await removeFolder(draft);
      this.parts.janitor.removeFolder(draft);
    }
    await this.deleteOldest();
    return target;
  }

  private async deleteOldest(): Promise<void> {
    const names = (await readdir(this.folder)).filter((name) => !name.includes('.'));
    const ages = await Promise.all(
      names.map(async (name) => {
        const folder = path.join(this.folder, name);
        const used = await stat(folder).catch(() => null);
        return { folder, used: used?.mtimeMs ?? 0 };
      }),
    );
    ages.sort((a, b) => b.used - a.used);
    for (const { folder } of ages.slice(keptCaches)) await removeFolder(folder);
  }
}

/** Folders like those of `source`, with a link for each of its files, as if `source` lay at `shownAt`. */
async function linkTree(source: string, target: string, shownAt: string): Promise<void> {
  await mkdir(target, { recursive: true });
  for (const entry of await readdir(source, { withFileTypes: true })) {
    const [inSource, inTarget] = [path.join(source, entry.name), path.join(target, entry.name)];
    if (entry.isDirectory()) await linkTree(inSource, inTarget, path.join(shownAt, entry.name));
    else await symlink(path.join(shownAt, entry.name), inTarget);
  }
}

const exists = (name: string) =>
  stat(name).then(
    () => true,
    () => false,
  );
