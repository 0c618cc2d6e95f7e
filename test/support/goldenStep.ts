import type { Provider } from '../../src/trainer/graph/provider.js';
import { createLearner } from '../../src/trainer/model/learner.js';
import { readGoldenModel, type goldenNames } from './goldenModels.js';

/** What one learner found on one device: arrays are plain numbers, since it crosses a process border. */
export interface GoldenStep {
  readonly logprobs: number[][];
  readonly entropies: number[][];
  readonly gradients: Record<string, number[]>;
  readonly parameters: Record<string, number[]>;
}

/** A whole step of a golden model: score, accumulate, one AdamW step; in micro-batches of so many tokens, where they are given. */
export async function goldenStep(
  name: (typeof goldenNames)[number],
  device: Provider,
  microBatchTokens?: number,
): Promise<GoldenStep> {
  const golden = await readGoldenModel(name);
  const files = { write: () => Promise.reject(new Error('unused')), read: () => Promise.reject(new Error('unused')) };
  const parameters = await golden.parameters();
  const learner = await createLearner({
    config: golden.config,
    parameters,
    device,
    threads: 2,
    files,
    microBatchTokens,
  });
  const scores = await learner.accumulate(golden.sequences, golden.coefficients, golden.gradientTemperature);
  const plain = (tensors: ReadonlyMap<string, Float32Array>) =>
    Object.fromEntries([...tensors].map(([key, values]) => [key, [...values]]));
  const gradients = plain(learner.gradients);
  await learner.step(golden.optimizer);
  await learner.dispose();
  return {
    logprobs: scores.map((each) => [...each.logprobs]),
    entropies: scores.map((each) => [...each.entropies]),
    gradients,
    parameters: plain(learner.parameters),
  };
}
