import type { LearnedTokens, Trajectory } from '../trajectory/trajectory.js';
import { groupAdvantages } from './algorithm/advantages.js';
import { grpoCoefficients, type GrpoSums } from './algorithm/grpo.js';
import { meanOf, rolloutMetrics } from './algorithm/stepMetrics.js';
import type { AdamWOptions, Learner, SequenceCoefficients, TrainingSequence } from './model/policy.js';
import { checkActionMask } from './rollout/actionMask.js';
import { samplerLogprobs, trainingSequence } from './rollout/nodes.js';
import type { Settings } from './run/settings.js';

export interface LearnedStep {
  readonly metrics: Record<string, number>;
  /** Advantages of each group's rollouts. */
  readonly advantages: readonly (readonly number[])[];
  readonly learned: readonly LearnedTokens[];
}

/** A graded trajectory on its way through the step. */
interface Lesson {
  readonly trajectory: Trajectory;
  readonly sequence: TrainingSequence;
  readonly advantage: number;
  readonly equalRewards: boolean;
  readonly oldLogprobs: Float32Array;
  readonly entropies: Float32Array;
  readonly referenceLogprobs: Float32Array | null;
}

/**
 * One step of GRPO on the groups' trajectories: scores them, forms advantages and coefficients, and updates the learner
 * `settings.iterations` times. Where every group has equal rewards nothing is updated: the weights stay bit for bit, and
 * the optimizer's momentum does not carry them on.
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
  const lessons = await score(learner, reference, groups, grouped, settings);
  const teaching = lessons.filter(({ equalRewards }) => !equalRewards);

  let firstCoefficients: readonly Float32Array[] = [];
  const sums: GrpoSums[] = [];
  const updates: { gradientNorm: number; skipped: boolean }[] = [];
  for (let iteration = 0; iteration < settings.iterations; iteration++) {
    const logprobs =
      iteration === 0 ? lessons.map(({ oldLogprobs }) => oldLogprobs) : await logprobsOf(learner, lessons, settings);
    const results = lessons.map((lesson, index) =>
      grpoCoefficients(
        { ...lesson, actionMask: lesson.sequence.actionMask, logprobs: logprobs[index] },
        { ...settings, trajectories: lessons.length },
      ),
    );
    if (iteration === 0) firstCoefficients = results.map(({ coefficients }) => coefficients);
    sums.push(...results.map((result) => result.sums));
    if (teaching.length === 0) break;
    const given = results.flatMap(({ coefficients }, index): SequenceCoefficients[] =>
      lessons[index].equalRewards ? [] : [{ logprobs: coefficients, entropies: null }],
    );
    await learner.accumulate(
      teaching.map(({ sequence }) => sequence),
      given,
      settings.temperature,
    );
    updates.push(await learner.step(optimizerOptions(settings)));
  }
  return {
    metrics: {
      ...rolloutMetrics(groups.flat(), grouped),
      ...learnerMetrics(lessons, sums, updates),
      learning_rate: settings.learningRate,
    },
    advantages: grouped.map(({ advantages }) => advantages),
    learned: lessons.map((lesson, index) => learnedTokens(lesson, firstCoefficients[index], step)),
  };
}

const optimizerOptions = ({ learningRate, weightDecay, maxGradientNorm }: Settings): AdamWOptions => ({
  learningRate,
  beta1: 0.9,
  beta2: 0.999,
  epsilon: 1e-8,
  weightDecay,
  maxGradientNorm,
});

async function score(
  learner: Learner,
  reference: Learner | null,
  groups: readonly (readonly Trajectory[])[],
  grouped: readonly { advantages: readonly number[]; equalRewards: boolean }[],
  settings: Settings,
): Promise<Lesson[]> {
  const graded = groups.flatMap((group, index) =>
    group.flatMap((trajectory, sample) => {
      const sequence = trainingSequence(trajectory);
      if (trajectory.grade === null || sequence.tokenIds.length === 0) return [];
      const { advantages, equalRewards } = grouped[index];
      return [{ trajectory, sequence, advantage: advantages[sample], equalRewards }];
    }),
  );
  const sequences = graded.map(({ sequence }) => sequence);
  const scores = await learner.score(sequences, settings.temperature);
  const references = reference && (await reference.score(sequences, settings.temperature));
  return graded.map((lesson, index) => ({
    ...lesson,
    oldLogprobs: scores[index].logprobs,
    entropies: scores[index].entropies,
    referenceLogprobs: references && references[index].logprobs,
  }));
}

async function logprobsOf(learner: Learner, lessons: readonly Lesson[], settings: Settings): Promise<Float32Array[]> {
  const scores = await learner.score(
    lessons.map(({ sequence }) => sequence),
    settings.temperature,
  );
  return scores.map(({ logprobs }) => logprobs);
}

function learnerMetrics(
  lessons: readonly Lesson[],
  sums: readonly GrpoSums[],
  updates: readonly { gradientNorm: number; skipped: boolean }[],
): Record<string, number> {
  const tokens = sums.reduce((total, { tokens }) => total + tokens, 0);
  const perToken = (key: 'clipped' | 'ratio' | 'kl') =>
    tokens === 0 ? 0 : sums.reduce((total, one) => total + one[key], 0) / tokens;
  const entropies: number[] = [];
  const differences: number[] = [];
  for (const { trajectory, sequence, oldLogprobs, entropies: entropiesOfLesson } of lessons) {
    const sampled = samplerLogprobs(trajectory);
    sequence.actionMask.forEach((bit, t) => {
      if (bit === 0) return;
      entropies.push(entropiesOfLesson[t]);
      differences.push(Math.abs(oldLogprobs[t] - sampled[t]));
    });
  }
  return {
    kl: perToken('kl'),
    entropy: meanOf(entropies),
    'clip_ratio/region_mean': perToken('clipped'),
    'ratio/mean': perToken('ratio'),
    'sampling/sampling_logp_difference/mean': meanOf(differences),
    'sampling/sampling_logp_difference/max': differences.reduce((most, value) => Math.max(most, value), 0),
    grad_norm: meanOf(updates.flatMap(({ gradientNorm, skipped }) => (skipped ? [] : [gradientNorm]))),
    'updates/skipped': updates.filter(({ skipped }) => skipped).length,
    loss: sums.reduce((total, one) => total + one.loss, 0),
  };
}

/** The lesson's arrays, stretched over the tokens behind the last sampled one, which no learner saw. */
function learnedTokens(lesson: Lesson, coefficients: Float32Array, step: number): LearnedTokens {
  const { trajectory, sequence, advantage, oldLogprobs, referenceLogprobs } = lesson;
  const tokens = trajectory.nodes.reduce((sum, node) => sum + node.tokenIds.length, 0);
  const stretched = (values: Float32Array | null, rest: number) => {
    const whole = new Float32Array(tokens).fill(rest);
    if (values !== null) whole.set(values);
    return whole;
  };
  return {
    trajectoryId: trajectory.id,
    step,
    advantages: stretched(
      Float32Array.from(sequence.actionMask, (bit) => (bit === 1 ? advantage : 0)),
      0,
    ),
    learnerLogprobs: stretched(oldLogprobs, NaN),
    referenceLogprobs: stretched(referenceLogprobs, NaN),
    coefficients: stretched(coefficients, 0),
  };
}
