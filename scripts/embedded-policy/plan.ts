import { join } from 'node:path';
import type { Flavour } from './episodes/buildEpisodes.js';
import type { Chunk } from './episodes/generate.js';
import type { TrainingPlan } from './training/train.js';

/** Everything that decides the policy: shapes, seeds, amounts. */
export const PROGRAMS_PER_CHUNK = 100;

const FLAVOURS: readonly Flavour[] = [
  'esm',
  'python',
  'esm',
  'commonjs',
  'esm',
  'typescript',
  'esm',
  'esm',
  'python',
  'commonjs',
];

/** Chunks of generated programs, in the order they are made: modules of all sizes first, then small ones. */
export const CHUNKS: readonly Chunk[] = [
  ...FLAVOURS.slice(0, 7).map((flavour, i) => ({ flavour, seed: 1000 + i, small: false })),
  ...Array.from({ length: 20 }, (_, i) => ({ flavour: FLAVOURS[i % FLAVOURS.length], seed: 2000 + i, small: true })),
];

/** Programs that no training sees. */
export const HELD_OUT_CHUNKS: readonly Chunk[] = [
  { flavour: 'esm', seed: 900_001, small: false },
  { flavour: 'python', seed: 900_002, small: false },
];

/** Chunks that the tokenizer is trained on. */
export const TOKENIZER_CHUNKS = 3;
/** Review episodes of a file, for each of its functions. */
export const REVIEWS_PER_FUNCTION = 0.8;
export const REVIEW_SEED = 20_261;
/** Part of the files that are read; of Python there are more than of the others together. */
export const FILES_KEPT = 0.6;
export const PYTHON_FILES_KEPT = 0.2;
/** How often a round goes through the programs, which come with tests, for once through the reviews. */
export const PROGRAM_ROUNDS = 1;

export const TRAINING: TrainingPlan = {
  config: {
    vocabularySize: 2048,
    hiddenSize: 192,
    intermediateSize: 512,
    layers: 4,
    heads: 3,
    keyValueHeads: 3,
    headDim: 64,
    ropeTheta: 100_000,
    rmsEpsilon: 1e-5,
    tieEmbeddings: true,
    maxPositions: 2048,
  },
  seed: 20_26,
  steps: 30_500,
  batchTokens: 2048,
  learningRate: 8e-4,
  warmupSteps: 100,
  decaySteps: 9000,
  shortSteps: 700,
  shortTokens: 680,
  threads: 2,
};

export const CACHE = join('.cache', 'embedded-policy');
export const OUTPUT = join('media', 'embedded-policy');
