import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CACHE, CHUNKS, HELD_OUT_CHUNKS, PROGRAMS_PER_CHUNK } from '../plan.js';
import { buildEpisodes, type Flavour } from './buildEpisodes.js';
import type { ExpertEpisode } from './episode.js';
import type { Runtimes } from './realRuns.js';

export interface Chunk {
  readonly flavour: Flavour;
  readonly seed: number;
  /** Modules of one or two functions: short episodes, from which more is learned in the same time. */
  readonly small: boolean;
}

export const chunkFile = ({ flavour, seed }: Chunk) => join(CACHE, 'episodes', `${flavour}-${seed}.jsonl`);

/** Makes the chunks that are not on disk yet. */
export async function generateEpisodes(runtimes: Runtimes, log: (line: string) => void): Promise<void> {
  await mkdir(join(CACHE, 'episodes'), { recursive: true });
  for (const chunk of [...HELD_OUT_CHUNKS, ...CHUNKS]) {
    const file = chunkFile(chunk);
    if (existsSync(file)) continue;
    const started = Date.now();
    const { episodes, programs } = await buildEpisodes(
      chunk.seed,
      chunk.flavour,
      { count: PROGRAMS_PER_CHUNK, small: chunk.small },
      runtimes,
    );
    await writeFile(`${file}.tmp`, episodes.map((episode) => JSON.stringify(episode) + '\n').join(''));
    await rename(`${file}.tmp`, file);
    log(
      `${chunk.flavour} ${chunk.seed}: ${programs.length} programs, ${episodes.length} episodes, ${Math.round((Date.now() - started) / 1000)} s`,
    );
  }
}

/** The episodes of a chunk; none where it was not made yet. */
export async function readChunk(chunk: Chunk): Promise<ExpertEpisode[]> {
  const file = chunkFile(chunk);
  if (!existsSync(file)) return [];
  const text = await readFile(file, 'utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as ExpertEpisode);
}
