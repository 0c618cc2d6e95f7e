import type { Trajectory } from '../../trajectory/trajectory.js';
import { supervisedCoefficients } from '../algorithm/supervised.js';
import type { Learner, TrainingSequence } from '../model/policy.js';
import { checkActionMask } from '../rollout/actionMask.js';
import { trainingSequence } from '../rollout/nodes.js';
import { deriveSeed } from '../rollout/seeds.js';
import { seededOrder } from '../../env/tasks/seededOrder.js';
import type { Settings } from '../run/settings.js';

/** One update of the warm start. */
export interface WarmStartUpdate {
  /** 1 for the first. */
  readonly update: number;
  readonly updates: number;
  /** Mean negative log-probability of the demonstrations' tokens before the update, in nats. */
  readonly loss: number;
  readonly gradientNorm: number;
  readonly learningRate: number;
}

/** Demonstrations of one update. */
const batchSize = 4;

/** The demonstrations worth imitating: whole, and resolved. */
export const successes = (demonstrations: readonly Trajectory[]) =>
  demonstrations.filter(({ grade }) => grade?.resolved === true);

/**
 * Supervised learning from demonstrations: `settings.warmStartEpochs` passes in an order of the seed, with a learning rate
 * that rises over the first tenth of the updates and then falls to a tenth in a straight line.
 */
export async function* warmStart(
  learner: Learner,
  demonstrations: readonly Trajectory[],
  settings: Settings,
): AsyncGenerator<WarmStartUpdate> {
  const problems = demonstrations.flatMap(checkActionMask);
  if (problems.length > 0) throw new Error(`internal: action mask: ${problems[0]}`);
  const batches = Array.from({ length: settings.warmStartEpochs }, (_, epoch) =>
    batchesOf(demonstrations, deriveSeed(settings.seed, 'warm-start', epoch)),
  ).flat();
  for (const [index, sequences] of batches.entries()) {
    const learningRate = learningRateAt(index, batches.length, settings.warmStartLearningRate);
    const tokens = sequences.reduce((sum, { actionMask }) => sum + actionMask.reduce((a, b) => a + b, 0), 0);
    const scores = await learner.accumulate(
      sequences,
      sequences.map(({ actionMask }) => ({ logprobs: supervisedCoefficients(actionMask, tokens), entropies: null })),
      1,
    );
    const total = scores.reduce(
      (sum, { logprobs }) => logprobs.reduce((a, value) => (Number.isNaN(value) ? a : a - value), sum),
      0,
    );
    const { gradientNorm } = await learner.step({
      learningRate,
      beta1: 0.9,
      beta2: 0.97,
      epsilon: 1e-8,
      weightDecay: settings.weightDecay,
      maxGradientNorm: settings.maxGradientNorm,
    });
    yield { update: index + 1, updates: batches.length, loss: total / tokens, gradientNorm, learningRate };
  }
}

function batchesOf(demonstrations: readonly Trajectory[], seed: number): TrainingSequence[][] {
  const order = seededOrder(demonstrations, String(seed), ({ id }) => id);
  return Array.from({ length: Math.ceil(order.length / batchSize) }, (_, i) =>
    order.slice(i * batchSize, (i + 1) * batchSize).map(trainingSequence),
  );
}

function learningRateAt(index: number, updates: number, peak: number): number {
  const rising = Math.max(1, Math.round(updates / 10));
  if (index < rising) return (peak * (index + 1)) / rising;
  return peak * (1 - (0.9 * (index - rising)) / Math.max(1, updates - rising));
}
