import { badInput } from '../../trajectory/errors.js';
import type { RewardComponent } from '../../trajectory/grade.js';

export interface RewardWeights {
  readonly tests: number;
  readonly similarity: number;
  readonly format: number;
}

export const defaultWeights: RewardWeights = { tests: 1, similarity: 0.2, format: 0.1 };

/** What each component may be. */
const RANGES: Readonly<Record<keyof RewardWeights, readonly [number, number]>> = {
  tests: [0, 1],
  similarity: [-1, 1],
  format: [0, 1],
};

/** Throws bad input where the weights are no weights, or where the outcome (tests) has less than half of them. */
export function checkWeights(weights: RewardWeights): void {
  const remedy = 'Set reward.tests, reward.similarity and reward.format, for example to 1, 0.2 and 0.1.';
  for (const [name, weight] of Object.entries(weights)) {
    if (!Number.isFinite(weight) || weight < 0) {
      throw badInput(`The reward weight "${name}" is ${weight}, not a number of at least 0.`, remedy);
    }
  }
  const others = weights.similarity + weights.format;
  if (weights.tests < others || weights.tests === 0) {
    throw badInput(
      `The reward weight of the tests is ${weights.tests}, less than half of all (${weights.tests + others}).`,
      remedy,
    );
  }
}

/**
 * The composite (requirement R7): sum of score * weight over the components that were measured. A score that is not a
 * number in its range is a broken invariant, never a reward.
 */
export function compose(
  scores: Readonly<Partial<Record<keyof RewardWeights, { readonly score: number; readonly reason?: string }>>>,
  weights: RewardWeights,
): { readonly reward: number; readonly components: Readonly<Record<string, RewardComponent>> } {
  checkWeights(weights);
  const components: Record<string, RewardComponent> = {};
  let reward = 0;
  for (const name of ['tests', 'similarity', 'format'] as const) {
    const measured = scores[name];
    if (!measured) continue;
    const [low, high] = RANGES[name];
    if (!(measured.score >= low && measured.score <= high)) {
      throw new Error(`internal: the reward component "${name}" is ${measured.score}, not in [${low}, ${high}]`);
    }
    components[name] = { ...measured, weight: weights[name] };
    reward += measured.score * weights[name];
  }
  return { reward, components };
}
