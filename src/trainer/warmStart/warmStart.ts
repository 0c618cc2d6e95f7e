import { seededOrder } from '../../env/tasks/seededOrder.js';
import { badInput, failed } from '../../trajectory/errors.js';
import type { Trajectory } from '../../trajectory/trajectory.js';
import { supervisedCoefficients } from '../algorithm/supervised.js';
import type { Learner, TrainingSequence } from '../model/policy.js';
import { checkActionMask } from '../rollout/actionMask.js';
import { trainingSequence } from '../rollout/nodes.js';
import { deriveSeed } from '../rollout/seeds.js';
import type { Settings } from '../run/settings.js';

/** One update of the warm start. */
export interface WarmStartUpdate {
  /** 1 for the first. */
  readonly update: number;
  readonly updates: number;
  /** By TRL's names: `loss` (mean negative log-probability of the tokens before the update, in nats), `grad_norm`, `learning_rate`. */
  readonly metrics: Readonly<Record<'loss' | 'grad_norm' | 'learning_rate', number>>;
}

/** Demonstrations of one update. */
const batchSize = 4;

/** The demonstrations worth imitating: whole, and resolved. */
export const successes = (demonstrations: readonly Trajectory[]) =>
  demonstrations.filter(({ grade }) => grade?.resolved === true);

/**
 * Supervised learning from demonstrations: `settings.warmStartEpochs` passes in an order of the seed, with a learning rate
 * that rises over the first tenth of the updates and then falls to a tenth in a straight line. Throws bad-input where there
 * is nothing to learn from, and `failed` where the gradient is no longer finite.
 */
export async function* warmStart(
  learner: Learner,
  demonstrations: readonly Trajectory[],
  settings: Settings,
): AsyncGenerator<WarmStartUpdate> {
  const problems = demonstrations.flatMap(checkActionMask);
  if (problems.length > 0) throw new Error(`internal: action mask: ${problems[0]}`);
  if (demonstrations.length === 0) {
    throw badInput(
      "The warm start has nothing to learn from: no expert's episode of the train tasks succeeded.",
      'Leave it out with `--warm-start-epochs 0`.',
    );
  }
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
    const { gradientNorm, skipped } = await learner.step({
      learningRate,
      beta1: 0.9,
      beta2: 0.97,
      epsilon: 1e-8,
      weightDecay: settings.weightDecay,
      maxGradientNorm: settings.maxGradientNorm,
    });
    if (skipped) {
      throw failed(
        `The warm start's gradient is not finite at update ${index + 1} of ${batches.length}.`,
        'Lower `--warm-start-learning-rate`.',
      );
    }
    const metrics = { loss: total / tokens, grad_norm: gradientNorm, learning_rate: learningRate };
    yield { update: index + 1, updates: batches.length, metrics };
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
