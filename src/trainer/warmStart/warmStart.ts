import { seededOrder } from '../../env/tasks/seededOrder.js';
import { failed } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';
import type { Trajectory } from '../../trajectory/trajectory.js';
import { sampledTokens } from '../algorithm/policyGradient.js';
import { supervisedCoefficients } from '../algorithm/supervised.js';
import { unlikelihoodCoefficients } from '../algorithm/unlikelihood.js';
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
  /** By TRL's names: `loss` (mean negative log-probability of the demonstrations' tokens before the update, in nats), `grad_norm`, `learning_rate`. */
  readonly metrics: Readonly<Record<'loss' | 'grad_norm' | 'learning_rate', number>>;
}

/** Demonstrations of one update. */
const batchSize = 4;

/** The demonstrations worth imitating: whole, and resolved. */
export const successes = (demonstrations: readonly Trajectory[]) =>
  demonstrations.filter(({ grade }) => grade?.resolved === true);

/** The starting policy's own rollouts that teach what not to do. */
export const failures = (rollouts: readonly Trajectory[]) =>
  rollouts.filter(
    ({ grade, nodes }) => grade?.resolved === false && nodes.some(({ actionMask }) => actionMask.includes(1)),
  );

/** A trajectory to learn from, or to unlearn. */
interface Lesson extends TrainingSequence {
  readonly isNegative: boolean;
}

/**
 * Supervised learning from demonstrations: `settings.warmStartEpochs` passes in an order of the seed, with a learning rate
 * that rises over the first tenth of the updates and then falls to a tenth in a straight line. Negative examples are mixed
 * in and made less likely (unlikelihood.ts). Without demonstrations nothing is learned. Throws `failed` where the gradient is no
 * longer finite.
 * @param done updates that the learner has behind it already
 */
export async function* warmStart(
  learner: Learner,
  demonstrations: readonly Trajectory[],
  settings: Settings,
  negatives: readonly Trajectory[] = [],
  done = 0,
): AsyncGenerator<WarmStartUpdate> {
  const problems = [...demonstrations, ...negatives].flatMap(checkActionMask);
  if (problems.length > 0) throw new Error(`internal: action mask: ${problems[0]}`);
  if (demonstrations.length === 0) return;
  const batches = Array.from({ length: settings.warmStartEpochs }, (_, epoch) =>
    batchesOf(demonstrations, negatives, deriveSeed(settings.seed, 'warm-start', epoch)),
  ).flat();
  for (const [index, batch] of batches.entries()) {
    if (index < done) continue;
    const learningRate = learningRateAt(index, batches.length, settings.warmStartLearningRate);
    const tokensOf = (some: readonly Lesson[]) =>
      some.reduce((sum, { actionMask }) => sum + sampledTokens(actionMask), 0);
    const tokens = tokensOf(batch);
    const before = batch.some(({ isNegative }) => isNegative) ? await learner.score(batch, 1) : null;
    const scores = await learner.accumulate(
      batch,
      batch.map(({ actionMask, isNegative }, i) => ({
        logprobs: isNegative
          ? unlikelihoodCoefficients(
              { actionMask, logprobs: before![i].logprobs },
              tokens,
              settings.warmStartNegativeWeight,
            ).coefficients
          : supervisedCoefficients(actionMask, tokens),
        entropies: null,
      })),
      1,
    );
    const positive = batch.filter(({ isNegative }) => !isNegative);
    const total = scores
      .filter((_, i) => !batch[i].isNegative)
      .reduce((sum, { logprobs }) => logprobs.reduce((a, value) => (Number.isNaN(value) ? a : a - value), sum), 0);
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
        say`The warm start's gradient is not finite at update ${index + 1} of ${batches.length}.`,
        'Lower `--warm-start-learning-rate`.',
      );
    }
    const loss = total / tokensOf(positive);
    const metrics = { loss, grad_norm: gradientNorm, learning_rate: learningRate };
    yield { update: index + 1, updates: batches.length, metrics };
  }
}

/** Demonstrations in batches, with the negative examples spread evenly over them. */
function batchesOf(demonstrations: readonly Trajectory[], negatives: readonly Trajectory[], seed: number): Lesson[][] {
  const shuffled = (trajectories: readonly Trajectory[], isNegative: boolean) =>
    seededOrder(trajectories, String(seed), ({ id }) => id).map((trajectory) => ({
      ...trainingSequence(trajectory),
      isNegative,
    }));
  const [positive, negative] = [shuffled(demonstrations, false), shuffled(negatives, true)];
  const batches = Math.ceil(positive.length / batchSize);
  return Array.from({ length: batches }, (_, batch) => [
    ...positive.slice(batch * batchSize, (batch + 1) * batchSize),
    ...negative.filter((_, index) => index % batches === batch),
  ]);
}

function learningRateAt(index: number, updates: number, peak: number): number {
  const rising = Math.max(1, Math.round(updates / 10));
  if (index < rising) return (peak * (index + 1)) / rising;
  return peak * (1 - (0.9 * (index - rising)) / Math.max(1, updates - rising));
}
