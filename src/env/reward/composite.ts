import { badInput } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';
import type { Grade, RewardComponent } from '../../trajectory/grade.js';
import { defaultConduct, type ConductWeights } from './conduct.js';

export interface RewardWeights {
  readonly tests: number;
  readonly similarity: number;
  readonly format: number;
  /** What each misconduct costs. */
  readonly conduct?: ConductWeights;
}

export const defaultWeights: RewardWeights = { tests: 1, similarity: 0.2, format: 0.1, conduct: defaultConduct };
type Earned = 'tests' | 'similarity' | 'format';

/** What each component may be. */
const RANGES: Readonly<Record<Earned, readonly [number, number]>> = {
  tests: [0, 1],
  similarity: [-1, 1],
  format: [0, 1],
};

/**
 * Throws bad input where the weights are no weights, or where the outcome (tests) has less than half of what can be earned;
 * what misconduct costs is not earned.
 */
export function checkWeights(weights: RewardWeights): void {
  const remedy = say`Set reward.tests, reward.similarity and reward.format, for example to 1, 0.2 and 0.1.`;
  const { conduct, ...earned } = weights;
  for (const [name, weight] of Object.entries({ ...earned, ...conduct })) {
    if (!Number.isFinite(weight) || weight < 0) {
      throw badInput(say`The reward weight "${name}" is ${weight}, not a number of at least 0.`, remedy);
    }
  }
  const others = weights.similarity + weights.format;
  if (weights.tests < others || weights.tests === 0) {
    throw badInput(
      say`The reward weight of the tests is ${weights.tests}, less than half of all (${weights.tests + others}).`,
      remedy,
    );
  }
}

/**
 * The composite (requirement R7): sum of score * weight over the components that were measured, and over the penalties. A
 * score that is not a number in its range is a broken invariant, never a reward.
 */
export function compose(
  scores: Readonly<Partial<Record<Earned, { readonly score: number; readonly reason?: string }>>>,
  weights: RewardWeights,
  penalties: Readonly<Record<string, RewardComponent>> = {},
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
  for (const [name, penalty] of Object.entries(penalties)) {
    if (penalty.score !== 0 && penalty.score !== -1) {
      throw new Error(`internal: the penalty "${name}" is ${penalty.score}, neither 0 nor -1`);
    }
    components[name] = penalty;
    reward += penalty.score * penalty.weight;
  }
  return { reward, components };
}

/** Sums of the same few numbers in another order differ by less. */
const rounding = 1e-9;

/**
 * What is wrong with a composite that was made elsewhere: a component that these weights do not have, a score out of its range, or parts
 * that do not add up to the reward; null where nothing is.
 */
export function compositeProblem(
  { reward, components }: Pick<Grade, 'reward' | 'components'>,
  { conduct = defaultConduct, ...earned }: RewardWeights,
): string | null {
  const weights = new Map(Object.entries({ ...earned, ...conduct }));
  // It costs nothing.
  weights.delete('maxFiles');
  const ranges = new Map(Object.entries(RANGES));
  if (!Object.hasOwn(components, 'tests')) return 'it has no component "tests"';
  let sum = 0;
  for (const [name, { score, weight }] of Object.entries(components)) {
    const [low, high] = ranges.get(name) ?? [-1, 0];
    if (weight !== weights.get(name)) return `the weight of the component ${JSON.stringify(name)} is ${weight}`;
    if (!(score >= low && score <= high))
      return `the component ${JSON.stringify(name)} is ${score}, not in [${low}, ${high}]`;
    sum += score * weight;
  }
  return Math.abs(sum - reward) <= rounding ? null : `the reward is ${reward}, and its components come to ${sum}`;
}
