import type { LearnedTokens, Trajectory } from '../trajectory/trajectory.js';
import { groupAdvantages, type GroupAdvantages } from './algorithm/advantages.js';
import { grpoCoefficients } from './algorithm/grpo.js';
import type { PolicySums } from './algorithm/policyGradient.js';
import { meanOf, rolloutMetrics } from './algorithm/stepMetrics.js';
import type { AdamWOptions, Learner, TrainingSequence } from './model/policy.js';
import { checkActionMask } from './rollout/actionMask.js';
import { samplerLogprobs, trainingSequence } from './rollout/nodes.js';
import type { Settings } from './run/settings.js';

export interface LearnedStep {
  readonly metrics: Record<string, number>;
  /** Advantages of each group's rollouts. */
  readonly advantages: readonly (readonly number[])[];
  /** Of the trajectories that taught something. */
  readonly learned: readonly LearnedTokens[];
}

/** A trajectory of a group whose rewards differ, on its way through the step. */
interface Lesson {
  readonly trajectory: Trajectory;
  readonly sequence: TrainingSequence;
  readonly advantage: number;
}

/**
 * One step of GRPO on the groups' trajectories: forms advantages and coefficients and updates the learner
 * `settings.iterations` times. Groups of equal rewards give no gradient, so the learner is not even asked about them; where
 * all are equal nothing is updated: the weights stay bit for bit, and the optimizer's momentum does not carry them on.
 * @param reference the frozen starting policy; null without a KL term
 * @param step number of the step, 1 for the first
 */
export async function learnStep(
  learner: Learner,
  reference: Learner | null,
  groups: readonly (readonly Trajectory[])[],
  settings: Settings,
  step: number,
): Promise<LearnedStep> {
  const problems = groups.flat().flatMap(checkActionMask);
  if (problems.length > 0) throw new Error(`internal: action mask: ${problems[0]}`);
  const grouped = groups.map((group) => groupAdvantages(group.map(({ grade }) => grade?.reward ?? null)));
  const lessons = groups.flatMap((group, index) =>
    grouped[index].equalRewards ? [] : lessonsOf(group, grouped[index]),
  );
  const graded = groups.flat().filter(({ grade }) => grade !== null).length;
  const updates = lessons.length === 0 ? null : await update(learner, reference, lessons, graded, settings);
  return {
    metrics: {
      ...rolloutMetrics(groups.flat(), grouped),
      entropy: meanOf(groups.flat().flatMap(sampledEntropies)),
      ...(updates && updateMetrics(lessons, updates)),
      learning_rate: settings.learningRate,
      'updates/made': updates?.steps.filter(({ skipped }) => !skipped).length ?? 0,
    },
    advantages: grouped.map(({ advantages }) => advantages),
    learned: updates === null ? [] : lessons.map((lesson, index) => learnedTokens(lesson, updates, index, step)),
  };
}

function lessonsOf(group: readonly Trajectory[], { advantages }: GroupAdvantages): Lesson[] {
  return group.flatMap((trajectory, sample) => {
    const sequence = trainingSequence(trajectory);
    if (trajectory.grade === null || sequence.tokenIds.length === 0) return [];
    return [{ trajectory, sequence, advantage: advantages[sample] }];
  });
}

interface Updates {
  /** Of the weights before the first update: one array a lesson, [time]. */
  readonly oldLogprobs: readonly Float32Array[];
  readonly referenceLogprobs: readonly Float32Array[] | null;
  /** Of the first update: one array a lesson, [time]. */
  readonly coefficients: readonly Float32Array[];
  readonly sums: readonly PolicySums[];
  readonly steps: readonly { readonly gradientNorm: number; readonly skipped: boolean }[];
}

/** @param graded trajectories that the loss is averaged over: those of equal rewards count with a loss of 0 */
async function update(
  learner: Learner,
  reference: Learner | null,
  lessons: readonly Lesson[],
  graded: number,
  settings: Settings,
): Promise<Updates> {
  const sequences = lessons.map(({ sequence }) => sequence);
  const scored = async (who: Learner) =>
    (await who.score(sequences, settings.temperature)).map(({ logprobs }) => logprobs);
  const referenceLogprobs = reference && (await scored(reference));
  // On the first update the ratio is 1 whatever the log-probabilities are; only the KL term has to know them before.
  let oldLogprobs = reference === null ? null : await scored(learner);
  let first: readonly Float32Array[] | null = null;
  const sums: PolicySums[] = [];
  const steps: { gradientNorm: number; skipped: boolean }[] = [];
  for (let iteration = 0; iteration < settings.iterations; iteration++) {
    const logprobs = iteration === 0 ? oldLogprobs : await scored(learner);
    const results = lessons.map(({ sequence, advantage }, index) => {
      const unknown = new Float32Array(sequence.tokenIds.length);
      return grpoCoefficients(
        {
          actionMask: sequence.actionMask,
          logprobs: logprobs?.[index] ?? unknown,
          oldLogprobs: oldLogprobs?.[index] ?? unknown,
          referenceLogprobs: referenceLogprobs?.[index] ?? null,
          advantage,
          equalRewards: false,
        },
        { ...settings, trajectories: graded },
      );
    });
    const coefficients = results.map((result) => result.coefficients);
    sums.push(...results.map((result) => result.sums));
    const scores = await learner.accumulate(
      sequences,
      coefficients.map((each) => ({ logprobs: each, entropies: null })),
      settings.temperature,
    );
    first ??= coefficients;
    oldLogprobs ??= scores.map((each) => each.logprobs);
    steps.push(await learner.step(optimizerOptions(settings)));
  }
  return { oldLogprobs: oldLogprobs!, referenceLogprobs, coefficients: first!, sums, steps };
}

const optimizerOptions = ({ learningRate, weightDecay, maxGradientNorm }: Settings): AdamWOptions => ({
  learningRate,
  beta1: 0.9,
  beta2: 0.999,
  epsilon: 1e-8,
  weightDecay,
  maxGradientNorm,
});

function updateMetrics(lessons: readonly Lesson[], { sums, steps, oldLogprobs }: Updates): Record<string, number> {
  const tokens = sums.reduce((total, one) => total + one.tokens, 0);
  const perToken = (key: 'clipped' | 'ratio' | 'kl') => sums.reduce((total, one) => total + one[key], 0) / tokens;
  const differences = lessons.flatMap(({ trajectory, sequence }, index) => {
    const sampled = samplerLogprobs(trajectory);
    return [...sequence.actionMask].flatMap((bit, t) =>
      bit === 1 ? [Math.abs(oldLogprobs[index][t] - sampled[t])] : [],
    );
  });
  return {
    kl: perToken('kl'),
    'clip_ratio/region_mean': perToken('clipped'),
    'ratio/mean': perToken('ratio'),
    'sampling/sampling_logp_difference/mean': meanOf(differences),
    'sampling/sampling_logp_difference/max': differences.reduce((most, value) => Math.max(most, value), 0),
    grad_norm: meanOf(steps.flatMap(({ gradientNorm, skipped }) => (skipped ? [] : [gradientNorm]))),
    loss: sums.reduce((total, one) => total + one.loss, 0),
  };
}

const sampledEntropies = ({ nodes }: Trajectory) =>
  nodes.flatMap(({ entropies }) => [...entropies].filter((entropy) => !Number.isNaN(entropy)));

/** The lesson's arrays, stretched over the tokens behind the last sampled one, which no learner saw. */
function learnedTokens(lesson: Lesson, updates: Updates, index: number, step: number): LearnedTokens {
  const { trajectory, sequence, advantage } = lesson;
  const tokens = trajectory.nodes.reduce((sum, node) => sum + node.tokenIds.length, 0);
  const stretched = (values: ArrayLike<number>, rest: number) => {
    const whole = new Float32Array(tokens).fill(rest);
    whole.set(values);
    return whole;
  };
  return {
    trajectoryId: trajectory.id,
    step,
    advantages: stretched(
      Array.from(sequence.actionMask, (bit) => bit * advantage),
      0,
    ),
    learnerLogprobs: stretched(updates.oldLogprobs[index], NaN),
    referenceLogprobs: stretched(updates.referenceLogprobs?.[index] ?? [], NaN),
    coefficients: stretched(updates.coefficients[index], 0),
  };
}
