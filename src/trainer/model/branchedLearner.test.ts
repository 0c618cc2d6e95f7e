import { afterAll, beforeAll, expect, test } from 'vitest';
import { branchedLearner } from './branchedLearner.js';
import { createLearner } from './learner.js';
import { initializeParameters, type LlamaConfig } from './llamaConfig.js';
import type { Learner, TrainingSequence } from './policy.js';

const config: LlamaConfig = {
  vocabularySize: 32,
  hiddenSize: 16,
  intermediateSize: 24,
  layers: 1,
  heads: 2,
  keyValueHeads: 2,
  headDim: 8,
  ropeTheta: 10_000,
  rmsEpsilon: 1e-5,
  tieEmbeddings: true,
  maxPositions: 64,
};
const files = { write: () => Promise.resolve(), read: () => Promise.resolve(new Map<string, Float32Array>()) };
const create = () =>
  createLearner({ config, parameters: initializeParameters(config, 5), device: 'cpu', threads: 1, files });

// A trunk of 4 tokens (the last two sampled), then two branches: 5 6 7 (7 sampled) and 8 9 (9 sampled).
const tokenIds = Int32Array.of(1, 2, 3, 4, 5, 6, 7, 8, 9);
const tree: TrainingSequence = {
  tokenIds,
  actionMask: Uint8Array.of(0, 0, 1, 1, 0, 0, 1, 0, 1),
  branches: [
    { positions: Int32Array.of(0, 1, 2, 3, 4, 5, 6), actionMask: Uint8Array.of(0, 0, 1, 1, 0, 0, 1) },
    { positions: Int32Array.of(0, 1, 2, 3, 7, 8), actionMask: Uint8Array.of(0, 0, 0, 0, 0, 1) },
  ],
};
const paths: TrainingSequence[] = tree.branches!.map(({ positions, actionMask }) => ({
  tokenIds: Int32Array.from(positions, (position) => tokenIds[position]!),
  actionMask,
}));

let plain: Learner;
let other: Learner;
beforeAll(async () => {
  [plain, other] = [await create(), await create()];
});
afterAll(async () => {
  await plain.dispose();
  await other.dispose();
});

test('a tree is scored branch by branch, each token behind what led to it', async () => {
  const [first, second] = await plain.score(paths, 1);
  const [whole, single] = await branchedLearner(plain).score([tree, paths[1]!], 1);
  const expected = [
    NaN,
    NaN,
    first!.logprobs[2],
    first!.logprobs[3],
    NaN,
    NaN,
    first!.logprobs[6],
    NaN,
    second!.logprobs[5],
  ];
  expect([...whole!.logprobs]).toEqual(expected);
  expect(whole!.entropies[8]).toBe(second!.entropies[5]);
  expect(single!.logprobs).toEqual(second!.logprobs);
});

test('and learned from as its branches are, shared tokens once', async () => {
  const options = { learningRate: 0.1, beta1: 0.9, beta2: 0.99, epsilon: 1e-8, weightDecay: 0, maxGradientNorm: 0 };
  const weights = Float32Array.of(0, 0, 1, 2, 0, 0, 3, 0, 4);
  await branchedLearner(plain).accumulate([tree], [{ logprobs: weights, entropies: null }], 1);
  const split = [Float32Array.of(0, 0, 1, 2, 0, 0, 3), Float32Array.of(0, 0, 0, 0, 0, 4)];
  await other.accumulate(
    paths,
    split.map((logprobs) => ({ logprobs, entropies: null })),
    1,
  );
  const [a, b] = [await plain.step(options), await other.step(options)];
  expect(a.gradientNorm).toBeCloseTo(b.gradientNorm, 4);
  const [after, expected] = [await plain.score(paths, 1), await other.score(paths, 1)];
  after.forEach(({ logprobs }, i) =>
    logprobs.forEach((value, t) => {
      if (!Number.isNaN(value)) expect(value).toBeCloseTo(expected[i]!.logprobs[t]!, 3);
    }),
  );
});
