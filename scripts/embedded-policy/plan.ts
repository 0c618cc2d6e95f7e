import { join } from 'node:path';
import type { Flavour } from './episodes/buildEpisodes.js';
import type { TrainingPlan } from './training/train.js';

/** Everything that decides the policy: shapes, seeds, amounts. */
export const PROGRAMS_PER_CHUNK = 100;

/** Chunks of generated programs, in the order they are made; the first ones of each flavour suffice for a trial. */
export const CHUNKS: readonly { readonly flavour: Flavour; readonly seed: number }[] = Array.from(
  { length: 4 },
  (_, round) =>
    (['esm', 'python', 'esm', 'commonjs', 'esm', 'typescript', 'esm', 'python', 'commonjs', 'esm'] as const).map(
      (flavour, i) => ({
        flavour,
        seed: 1000 + round * 100 + i,
      }),
    ),
).flat();

/** Programs that no training sees. */
export const HELD_OUT_CHUNKS: readonly { readonly flavour: Flavour; readonly seed: number }[] = [
  { flavour: 'esm', seed: 900_001 },
  { flavour: 'python', seed: 900_002 },
];

/** Chunks that the tokenizer is trained on. */
export const TOKENIZER_CHUNKS = 4;
export const REVIEWS_PER_FILE = 3;

/** Python packages whose code is read, with their licences. */
export const PYTHON_PACKAGES: Readonly<Record<string, string>> = {
  attr: 'MIT',
  click: 'BSD-3-Clause',
  flask: 'BSD-3-Clause',
  jinja2: 'BSD-3-Clause',
  _pytest: 'MIT',
};

export const TRAINING: TrainingPlan = {
  config: {
    vocabularySize: 2048,
    hiddenSize: 192,
    intermediateSize: 512,
    layers: 5,
    heads: 6,
    keyValueHeads: 2,
    headDim: 32,
    ropeTheta: 10_000,
    rmsEpsilon: 1e-5,
    tieEmbeddings: true,
    maxPositions: 2048,
  },
  seed: 20_26,
  steps: 2000,
  batchTokens: 4096,
  learningRate: 2e-3,
  warmupSteps: 60,
  decaySteps: 500,
  shortSteps: 300,
  shortTokens: 520,
  threads: 2,
};

export const CACHE = join('.cache', 'embedded-policy');
export const OUTPUT = join('media', 'embedded-policy');
