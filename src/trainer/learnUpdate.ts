import type { LearnedTokens, Trajectory } from '../trajectory/trajectory.js';
import type { Advantage } from './algorithm/advantageEstimators.js';
import { sampledTokens, type PolicySums } from './algorithm/policyGradient.js';
import { policyLosses, type PolicyLossOptions } from './algorithm/policyLosses.js';
import { importanceMetrics, meanOf, policyMetrics } from './algorithm/stepMetrics.js';
import { criticUpdate, type CriticUpdate, type Judgement } from './critic.js';
import { accumulateAtTemperatures, optimizerOptions, scoreAtTemperatures } from './learnerCalls.js';
import { teaches, type Rollout, type Scores } from './lessons.js';
import { accumulateHindsight, type HindsightLesson } from './hindsightLesson.js';
import type { Learner, SequenceScores, StepResult } from './model/policy.js';
import { samplerLogprobs } from './rollout/nodes.js';
import type { Settings } from './run/settings.js';

/** All graded trajectories count in the averages: those of silent groups with a loss of 0. */
export function lossOptions(rollouts: readonly Rollout[], settings: Settings): PolicyLossOptions {
  const { clipLow, clipHigh, klCoefficient, maxTurns, maxTokensPerTurn } = settings;
  const { dualClip, klEstimator, klPlace, entropyCoefficient } = settings.algorithm;
  const graded = rollouts.filter(({ reward }) => reward !== null);
  return {
    clipLow,
    clipHigh,
    ...(dualClip > 0 && { dualClip }),
    klCoefficient: klPlace === 'loss' ? klCoefficient : 0,
    klEstimator,
    entropyCoefficient,
    trajectories: graded.length,
    tokens: graded
      .filter((rollout) => teaches(rollout, settings))
      .reduce((sum, { sequence }) => sum + sampledTokens(sequence.actionMask), 0),
    horizon: maxTurns * maxTokensPerTurn,
  };
}

/** What the lessons' tokens are credited with: one entry a lesson. */
export interface Credit {
  readonly advantages: readonly Advantage[];
  /** Null where there is no critic. */
  readonly judgement: Judgement | null;
}

export interface Updates {
  /** Of the weights before the first update: one array a lesson, [time]. */
  readonly oldLogprobs: readonly Float32Array[];
  /** Of the first update: one array a lesson, [time]. */
  readonly coefficients: readonly Float32Array[];
  readonly sums: readonly PolicySums[];
  /** Of each update; none without a critic. */
  readonly critic: readonly CriticUpdate[];
  /** Of the first update's hindsight. */
  readonly hindsight: readonly SequenceScores[];
  readonly steps: readonly StepResult[];
}

export async function update(
  learner: Learner,
  lessons: readonly Rollout[],
  { advantages, judgement }: Credit,
  scores: Scores,
  options: PolicyLossOptions,
  settings: Settings,
  lesson: HindsightLesson,
): Promise<Updates> {
  const sequences = lessons.map(({ sequence }) => sequence);
  const temperatures = lessons.map(({ trajectory }) => trajectory.temperature);
  const coefficientsOf = policyLosses[settings.algorithm.loss];
  let oldLogprobs = scores.old && scores.old.map(({ logprobs }) => logprobs);
  let first: readonly Float32Array[] | null = null;
  const sums: PolicySums[] = [];
  const critic: CriticUpdate[] = [];
  let hindsight: readonly SequenceScores[] | null = null;
  const steps: StepResult[] = [];
  for (let iteration = 0; iteration < settings.iterations; iteration++) {
    const now = iteration === 0 ? scores.old : await scoreAtTemperatures(learner, sequences, temperatures);
    const results = sequences.map(({ actionMask }, index) => {
      const unknown = new Float32Array(actionMask.length);
      return coefficientsOf(
        {
          actionMask,
          logprobs: now?.[index].logprobs ?? unknown,
          oldLogprobs: oldLogprobs?.[index] ?? unknown,
          referenceLogprobs: scores.referenceLogprobs?.[index] ?? null,
          entropies: now?.[index].entropies,
          importanceWeights: scores.importanceWeights?.[index],
          advantage: advantages[index],
          equalRewards: false,
        },
        options,
      );
    });
    const coefficients = results.map((result) => result.coefficients);
    sums.push(...results.map((result) => result.sums));
    if (judgement && lessons.length > 0) critic.push(criticUpdate(judgement, now!, settings));
    const ofCritic = critic.at(-1)?.coefficients;
    const found = await accumulateAtTemperatures(
      learner,
      sequences,
      results.map((result, index) => ({
        logprobs: result.coefficients,
        entropies: result.entropyCoefficients,
        ...(ofCritic && { stateValues: ofCritic[index] }),
      })),
      temperatures,
    );
    const imitated = await accumulateHindsight(learner, lesson);
    hindsight ??= imitated;
    first ??= coefficients;
    oldLogprobs ??= found.map((each) => each.logprobs);
    const { valueLearningRate } = settings.algorithm;
    steps.push(await learner.step({ ...optimizerOptions(settings), ...(judgement && { valueLearningRate }) }));
  }
  return { oldLogprobs: oldLogprobs!, coefficients: first!, sums, critic, hindsight: hindsight!, steps };
}

/** By how many steps the weights that learn in a step are newer than those that sampled. */
export const stalenessOf = ({ policyStep }: Pick<Trajectory, 'policyStep'>, step: number) => step - 1 - policyStep;

export function updateMetrics(
  lessons: readonly Rollout[],
  scores: Scores,
  { sums, critic, steps, oldLogprobs }: Updates,
  step: number,
): Record<string, number> {
  const sampledOf = (values: (index: number) => ArrayLike<number>) =>
    lessons.flatMap(({ sequence }, index) => Array.from(values(index)).filter((_, t) => sequence.actionMask[t] === 1));
  const differences = sampledOf((index) => {
    // That older weights gave other probabilities says nothing about the sampler.
    if (lessons[index].isStale) return [];
    const sampled = samplerLogprobs(lessons[index].trajectory);
    return Array.from(oldLogprobs[index], (value, t) => Math.abs(value - sampled[t]));
  });
  const staleness = sampledOf((index) => oldLogprobs[index].map(() => stalenessOf(lessons[index].trajectory, step)));
  const weights = scores.importanceWeights;
  return {
    // Where only hindsight taught, there is nothing to tell of the policy's own tokens.
    ...(lessons.length > 0 && policyMetrics(sums)),
    ...critic[0]?.metrics,
    // Not known where all lessons are stale.
    ...(differences.length > 0 && {
      'sampling/sampling_logp_difference/mean': meanOf(differences),
      'sampling/sampling_logp_difference/max': differences.reduce((most, value) => Math.max(most, value), 0),
    }),
    'sampling/staleness/mean': meanOf(staleness),
    'sampling/staleness/max': staleness.reduce((most, value) => Math.max(most, value), 0),
    ...importanceMetrics(weights === null ? [] : sampledOf((index) => weights[index])),
    grad_norm: meanOf(steps.flatMap(({ gradientNorm, skipped }) => (skipped ? [] : [gradientNorm]))),
  };
}

/** The lesson's arrays, stretched over the tokens behind the last sampled one, which no learner saw. */
export function learnedTokens(
  { trajectory, sequence }: Rollout,
  advantage: Advantage,
  scores: Scores,
  updates: Updates,
  index: number,
  step: number,
): LearnedTokens {
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
      Array.from(sequence.actionMask, (bit, t) => bit * (typeof advantage === 'number' ? advantage : advantage[t])),
      0,
    ),
    learnerLogprobs: stretched(updates.oldLogprobs[index], NaN),
    referenceLogprobs: stretched(scores.referenceLogprobs?.[index] ?? [], NaN),
    coefficients: stretched(updates.coefficients[index], 0),
  };
}
