import { existsSync } from 'node:fs';
import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { saveCheckpoint } from '../../src/trainer/model/checkpoint.js';
import { modelCard } from './card.js';
import { permissiveSources, type CorpusFile } from './corpus/permissive.js';
import { reviewEpisodes } from './corpus/reviews.js';
import { messagesOf } from './corpus/madeUpTests.js';
import type { ExpertEpisode } from './episodes/episode.js';
import { type Chunk, chunkFile, generateEpisodes, readChunk } from './episodes/generate.js';
import {
  CACHE,
  CHUNKS,
  HELD_OUT_CHUNKS,
  OUTPUT,
  PROGRAM_ROUNDS,
  FILES_KEPT,
  PYTHON_FILES_KEPT,
  REVIEW_SEED,
  REVIEWS_PER_FUNCTION,
  TOKENIZER_CHUNKS,
  TRAINING,
} from './plan.js';
import { Rng } from './programs/rng.js';
import { findRuntimes } from './runtimes.js';
import { encodeEpisode, encodedOnDisk, type EncodedEpisode, TokenKind } from './training/encodeEpisode.js';
import { makeTokenizer, readCodec } from './training/tokenizer.js';
import { train } from './training/train.js';

/**
 * Makes the embedded policy from nothing: programs, bugs, test runs, expert's episodes; the tokenizer; the training.
 * Every stage is kept in `.cache/embedded-policy`, so that a run that was stopped goes on where it was.
 *
 *   node scripts/embedded-policy/make.mjs [generate|train]     one stage alone; both without an argument
 */
const stage = process.argv[2] ?? 'all';
const log = (line: string) => {
  console.log(line);
  void appendFile(join(CACHE, 'log.txt'), `${new Date().toISOString()} ${line}\n`);
};
await mkdir(CACHE, { recursive: true });
if (stage === 'all' || stage === 'generate') await generateEpisodes(findRuntimes(), log);
if (stage === 'all' || stage === 'train') await makePolicy();

async function makePolicy(): Promise<void> {
  const corpus = await permissiveSources(join(CACHE, 'corpus'));
  const folder = join(CACHE, 'policy');
  const forTokenizer = (await Promise.all(CHUNKS.slice(0, TOKENIZER_CHUNKS).map(readChunk))).flat();
  await makeTokenizer(
    folder,
    forTokenizer,
    corpus.filter((_, i) => i % 10 === 0),
  );
  const codec = await readCodec(folder);
  const encode = (name: string, read: () => Promise<readonly ExpertEpisode[]>) =>
    encodedOnDisk(join(folder, 'encoded', `${name}.json`), async () =>
      (await read()).map((episode) => encodeEpisode(codec, episode)).filter(fits),
    );
  const encodeChunk = (chunk: Chunk) => encode(`${chunk.flavour}-${chunk.seed}`, () => readChunk(chunk));
  const reviews = await encode('reviews', () => readReviews(corpus));
  const known = new Map<Chunk, readonly EncodedEpisode[]>();
  const episodes = async () => {
    for (const chunk of CHUNKS) {
      if (!known.has(chunk) && existsSync(chunkFile(chunk))) known.set(chunk, await encodeChunk(chunk));
    }
    const programs = [...known.values()].flat();
    const all = [...reviews, ...Array.from({ length: PROGRAM_ROUNDS }, () => programs).flat()];
    log(
      `${all.length} episodes, ${(all.reduce((sum, { tokenIds }) => sum + tokenIds.length, 0) / 1e6).toFixed(2)}M tokens`,
    );
    return all;
  };
  const heldOut = (await Promise.all(HELD_OUT_CHUNKS.map(encodeChunk))).flat();
  const learner = await train(
    folder,
    TRAINING,
    codec.tokenTexts(Array.from({ length: codec.vocabularySize }, (_, id) => id)),
    episodes,
    new Rng(1).shuffle(heldOut),
    log,
  );
  await saveCheckpoint(OUTPUT, {
    config: TRAINING.config,
    parameters: learner.parameters,
    sourceFolder: folder,
    dtype: 'BF16',
  });
  await writeCard(learner.parameters, ((await episodes()).length - reviews.length) / PROGRAM_ROUNDS, reviews.length);
  await learner.dispose();
  log(`written to ${OUTPUT}`);
}

/** Within the context, and no turn longer than a rollout lets a turn be. */
function fits({ tokenIds, kinds }: EncodedEpisode): boolean {
  let turn = 0;
  const longest = kinds.reduce((most, kind) => Math.max(most, (turn = kind === TokenKind.context ? 0 : turn + 1)), 0);
  return tokenIds.length <= TRAINING.config.maxPositions - 8 && longest <= 300;
}

/** Made once, since finding the functions takes a while; the packages they come from are listed beside them. */
async function readReviews(corpus: readonly CorpusFile[]): Promise<ExpertEpisode[]> {
  const file = join(CACHE, 'reviews.json');
  if (!existsSync(file)) {
    const seen = new Set<string>();
    const used = new Map<string, string>();
    const made: ExpertEpisode[] = [];
    const messages = messagesOf((await Promise.all(CHUNKS.slice(0, TOKENIZER_CHUNKS).map(readChunk))).flat());
    for (const [index, source] of corpus.entries()) {
      const rng = new Rng(REVIEW_SEED).fork(index);
      if (!rng.chance(source.path.endsWith('.py') ? PYTHON_FILES_KEPT : FILES_KEPT)) continue;
      const episodes = reviewEpisodes(rng, source, REVIEWS_PER_FUNCTION, seen, messages);
      if (episodes.length > 0) used.set(source.package, source.licence);
      made.push(...episodes);
      if (index % 500 === 499) log(`reviews: ${index + 1} of ${corpus.length} files, ${made.length} episodes`);
      // Syntax trees are native: they are only freed between turns of the event loop.
      await new Promise(setImmediate);
    }
    await writeFile(file, JSON.stringify(made));
    await writeFile(join(CACHE, 'sources.json'), JSON.stringify([...used], null, 1));
  }
  return JSON.parse(await readFile(file, 'utf8')) as ExpertEpisode[];
}

async function writeCard(
  parameters: ReadonlyMap<string, Float32Array>,
  episodes: number,
  reviews: number,
): Promise<void> {
  const text = (path: string) => (existsSync(path) ? readFile(path, 'utf8') : Promise.resolve(''));
  const lines = (await text(join(CACHE, 'policy', 'evaluations.txt'))).trim().split('\n');
  const card = modelCard({
    plan: TRAINING,
    parameters: [...parameters.values()].reduce((sum, { length }) => sum + length, 0),
    episodes: Math.round(episodes),
    reviews: Math.round(reviews),
    sources: JSON.parse(await text(join(CACHE, 'sources.json'))) as [string, string][],
    heldOut: lines.at(-1)!.replace(/^.*held out: context \S+ | \(\d+ s\)$/g, ''),
    shipped: await text(join('scripts', 'embedded-policy', 'shipped.md')),
  });
  await writeFile(join(OUTPUT, 'MODEL_CARD.md'), card);
}
