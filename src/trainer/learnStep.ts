import type { LearnedTokens, Trajectory } from '../trajectory/trajectory.js';
import {
  estimateAdvantages,
  isTurnEstimator,
  silentGroups,
  type Advantage,
  type Outcome,
} from './algorithm/advantageEstimators.js';
import { groupAdvantages } from './algorithm/advantages.js';
import { importanceWeights } from './algorithm/importance.js';
import { klPenalties } from './algorithm/kl.js';
import { overlongPenalty } from './algorithm/overlong.js';
import { sampledTokens, type PolicySums } from './algorithm/policyGradient.js';
import { policyLosses, type PolicyLossOptions } from './algorithm/policyLosses.js';
import { importanceMetrics, isTruncated, meanOf, policyMetrics, rolloutMetrics } from './algorithm/stepMetrics.js';
import type { Learner, SequenceScores, TrainingSequence } from './model/policy.js';
import { accumulateAtTemperatures, optimizerOptions, scoreAtTemperatures, updateCounts } from './learnerCalls.js';
import { checkActionMask } from './rollout/actionMask.js';
import { samplerLogprobs, trainingSequence } from './rollout/nodes.js';
import type { Settings } from './run/settings.js';
import { scoreInformationGains, turnViewOf } from './turnCredit.js';

export interface LearnedStep {
  readonly metrics: Record<string, number>;
  /** Advantages of each group's rollouts; where tokens have their own, the mean over them. */
  readonly advantages: readonly (readonly number[])[];
  /** Of the trajectories that taught something. */
  readonly learned: readonly LearnedTokens[];
}

/** What a step may learn from beside its own rollouts. */
export interface LearnStepExtras {
  /** Groups of earlier steps (data/replay.ts). */
  readonly replayed?: readonly (readonly Trajectory[])[];
  /** Ids of the turn in which the task's oracle would be said, for IGPO; null where it cannot. */
  readonly oracleTurn?: (taskId: string) => Int32Array | null;
}

/** A trajectory on its way through the step; a lesson, where it teaches something. */
interface Rollout extends Outcome {
  readonly trajectory: Trajectory;
  readonly sequence: TrainingSequence;
  readonly isReplayed: boolean;
}

/** What is known of the lessons before the first update; one array a lesson, [time]. */
interface Scores {
  /** Null where the ratio of the first update is 1 whatever the log-probabilities are, so nobody has to know them before. */
  readonly old: readonly SequenceScores[] | null;
  readonly referenceLogprobs: readonly Float32Array[] | null;
  readonly importanceWeights: readonly Float64Array[] | null;
}

/**
 * One step of learning on the groups' trajectories: forms advantages and coefficients as `settings.algorithm` says and
 * updates the learner `settings.iterations` times. Silent groups (equal rewards) give no gradient, so the learner is not even
 * asked about them; where all are silent nothing is updated: the weights stay bit for bit, and the optimizer's momentum does
 * not carry them on. Replayed groups are corrected for the weights that sampled them, also where nothing else is.
 * @param reference the frozen policy of the KL term; null without one
 * @param step number of the step, 1 for the first
 */
export async function learnStep(
  learner: Learner,
  reference: Learner | null,
  groups: readonly (readonly Trajectory[])[],
  settings: Settings,
  step: number,
  { replayed = [], oracleTurn = () => null }: LearnStepExtras = {},
): Promise<LearnedStep> {
  const everything = [...groups, ...replayed];
  const problems = everything.flat().flatMap(checkActionMask);
  if (problems.length > 0) throw new Error(`internal: action mask: ${problems[0]}`);
  const { advantage: estimator, dynamicSampling } = settings.algorithm;
  const turns = await turnViews(learner, everything.flat(), settings, oracleTurn);
  const rollouts = everything.map((group, index) =>
    group.map((trajectory) => rolloutOf(trajectory, settings, index >= groups.length, turns.get(trajectory))),
  );
  const silent = silentGroups(estimator, rollouts, settings.algorithm);
  const teaching = rollouts.filter((_, index) => !silent[index]);
  const lessons = teaching.flat().filter((rollout) => teaches(rollout, settings));
  const scores = await scoresBefore(learner, reference, lessons, settings);
  const penalties = rewardPenalties(lessons, scores, settings);
  const estimated = estimateAdvantages(
    estimator,
    rollouts.map((group) => group.map((rollout) => ({ ...rollout, penalties: penalties.get(rollout) ?? null }))),
    settings.algorithm,
  );
  const advantageOf = new Map(rollouts.flatMap((group, i) => group.map((one, sample) => [one, estimated[i][sample]])));
  const advantages = lessons.map((lesson) => advantageOf.get(lesson)!);
  // A step that was filled up with groups that teach is averaged over them alone.
  const options = lossOptions((dynamicSampling > 0 ? teaching : rollouts).flat(), settings);
  const updates = lessons.length === 0 ? null : await update(learner, lessons, advantages, scores, options, settings);
  const own = rollouts.slice(0, groups.length);
  const rewards = own.map((group) => group.map(({ reward }) => reward));
  return {
    metrics: {
      ...rolloutMetrics(
        groups.flat(),
        rewards.map((group) => groupAdvantages(group)),
      ),
      ...overlongMetrics(groups.flat(), settings),
      entropy: meanOf(groups.flat().flatMap(sampledEntropies)),
      ...(updates && updateMetrics(lessons, scores, updates)),
      learning_rate: settings.learningRate,
      ...updateCounts(updates?.steps ?? []),
    },
    advantages: rollouts.map((group) => group.map((rollout) => overAll(rollout, advantageOf.get(rollout)!))),
    learned:
      updates === null
        ? []
        : lessons.map((lesson, index) => learnedTokens(lesson, advantages[index], scores, updates, index, step)),
  };
}

/** Turns of each trajectory, where the estimator tells them apart. */
async function turnViews(
  learner: Learner,
  trajectories: readonly Trajectory[],
  { algorithm }: Settings,
  oracleTurn: (taskId: string) => Int32Array | null,
): Promise<ReadonlyMap<Trajectory, Outcome['turns']>> {
  if (!isTurnEstimator(algorithm.advantage)) return new Map();
  const gains =
    algorithm.advantage === 'igpo'
      ? await scoreInformationGains(
          learner,
          trajectories,
          trajectories.map(({ taskId }) => oracleTurn(taskId)),
        )
      : null;
  return new Map(
    trajectories.map((trajectory, index) => [trajectory, turnViewOf(trajectory, gains && gains[index])] as const),
  );
}

function rolloutOf(trajectory: Trajectory, settings: Settings, isReplayed: boolean, turns: Outcome['turns']): Rollout {
  const sequence = trainingSequence(trajectory);
  const reward = shapedReward(trajectory, settings);
  return { trajectory, sequence, reward, actionMask: sequence.actionMask, penalties: null, isReplayed, turns };
}

/** What the rollout learns from: its reward and what its length takes from that; null where the machine failed. */
export function shapedReward(trajectory: Trajectory, settings: Settings): number | null {
  if (trajectory.grade === null) return null;
  return trajectory.grade.reward + overlongOf(trajectory, settings);
}

function overlongOf({ statistics }: Trajectory, { algorithm, maxTurns, maxTokensPerTurn }: Settings): number {
  const { overlongBuffer, overlongFactor, overlongLength } = algorithm;
  if (overlongBuffer === 0) return 0;
  const most = overlongLength === 0 ? maxTurns * maxTokensPerTurn : overlongLength;
  return overlongFactor * overlongPenalty(statistics.sampledTokens, most, overlongBuffer);
}

const overlongMetrics = (trajectories: readonly Trajectory[], settings: Settings): Record<string, number> =>
  settings.algorithm.overlongBuffer === 0
    ? {}
    : { 'rewards/overlong/mean': meanOf(trajectories.map((trajectory) => overlongOf(trajectory, settings))) };

const teaches = ({ reward, sequence, trajectory }: Rollout, { algorithm }: Settings) =>
  reward !== null && sequence.tokenIds.length > 0 && !(algorithm.maskTruncated && isTruncated(trajectory));

async function scoresBefore(
  learner: Learner,
  reference: Learner | null,
  lessons: readonly Rollout[],
  { algorithm }: Settings,
): Promise<Scores> {
  if (lessons.length === 0) return { old: null, referenceLogprobs: null, importanceWeights: null };
  const sequences = lessons.map(({ sequence }) => sequence);
  const temperatures = lessons.map(({ trajectory }) => trajectory.temperature);
  const referenceScores = reference && (await scoreAtTemperatures(reference, sequences, temperatures));
  const { loss, entropyCoefficient, importanceCorrection, importanceLow, importanceHigh } = algorithm;
  const corrections = lessons.map(({ isReplayed }) =>
    isReplayed && importanceCorrection === 'none' ? 'token-truncate' : importanceCorrection,
  );
  const isCorrected = corrections.some((correction) => correction !== 'none');
  const needed = reference !== null || isCorrected || loss === 'cispo' || entropyCoefficient > 0;
  const old = needed ? await scoreAtTemperatures(learner, sequences, temperatures) : null;
  const weights =
    old === null || !isCorrected
      ? null
      : lessons.map(({ trajectory, sequence }, index) => {
          const correction = corrections[index];
          if (correction === 'none') return Float64Array.from(sequence.actionMask);
          const bounds = { low: importanceLow, high: importanceHigh };
          const sampled = samplerLogprobs(trajectory);
          return importanceWeights(correction, sequence.actionMask, old[index].logprobs, sampled, bounds);
        });
  return {
    old,
    referenceLogprobs: referenceScores && referenceScores.map(({ logprobs }) => logprobs),
    importanceWeights: weights,
  };
}

/** What each lesson's tokens lose of the reward; nothing where the KL term is in the loss. */
function rewardPenalties(
  lessons: readonly Rollout[],
  { old, referenceLogprobs }: Scores,
  { algorithm, klCoefficient }: Settings,
): ReadonlyMap<Rollout, Float64Array> {
  if (algorithm.klPlace === 'loss' || old === null || referenceLogprobs === null) return new Map();
  return new Map(
    lessons.map((lesson, index) => [
      lesson,
      klPenalties(
        lesson.sequence.actionMask,
        old[index].logprobs,
        referenceLogprobs[index],
        algorithm.klEstimator,
        klCoefficient,
      ),
    ]),
  );
}

/** All graded trajectories count in the averages: those of silent groups with a loss of 0. */
function lossOptions(rollouts: readonly Rollout[], settings: Settings): PolicyLossOptions {
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

interface Updates {
  /** Of the weights before the first update: one array a lesson, [time]. */
  readonly oldLogprobs: readonly Float32Array[];
  /** Of the first update: one array a lesson, [time]. */
  readonly coefficients: readonly Float32Array[];
  readonly sums: readonly PolicySums[];
  readonly steps: readonly { readonly gradientNorm: number; readonly skipped: boolean }[];
}

async function update(
  learner: Learner,
  lessons: readonly Rollout[],
  advantages: readonly Advantage[],
  scores: Scores,
  options: PolicyLossOptions,
  settings: Settings,
): Promise<Updates> {
  const sequences = lessons.map(({ sequence }) => sequence);
  const temperatures = lessons.map(({ trajectory }) => trajectory.temperature);
  const coefficientsOf = policyLosses[settings.algorithm.loss];
  let oldLogprobs = scores.old && scores.old.map(({ logprobs }) => logprobs);
  let first: readonly Float32Array[] | null = null;
  const sums: PolicySums[] = [];
  const steps: { gradientNorm: number; skipped: boolean }[] = [];
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
    const found = await accumulateAtTemperatures(
      learner,
      sequences,
      results.map((result) => ({ logprobs: result.coefficients, entropies: result.entropyCoefficients })),
      temperatures,
    );
    first ??= coefficients;
    oldLogprobs ??= found.map((each) => each.logprobs);
    steps.push(await learner.step(optimizerOptions(settings)));
  }
  return { oldLogprobs: oldLogprobs!, coefficients: first!, sums, steps };
}

function updateMetrics(
  lessons: readonly Rollout[],
  scores: Scores,
  { sums, steps, oldLogprobs }: Updates,
): Record<string, number> {
  const sampledOf = (values: (index: number) => ArrayLike<number>) =>
    lessons.flatMap(({ sequence }, index) => Array.from(values(index)).filter((_, t) => sequence.actionMask[t] === 1));
  const differences = sampledOf((index) => {
    // That older weights gave other probabilities says nothing about the sampler.
    if (lessons[index].isReplayed) return [];
    const sampled = samplerLogprobs(lessons[index].trajectory);
    return Array.from(oldLogprobs[index], (value, t) => Math.abs(value - sampled[t]));
  });
  const weights = scores.importanceWeights;
  return {
    ...policyMetrics(sums),
    'sampling/sampling_logp_difference/mean': meanOf(differences),
    'sampling/sampling_logp_difference/max': differences.reduce((most, value) => Math.max(most, value), 0),
    ...importanceMetrics(weights === null ? [] : sampledOf((index) => weights[index])),
    grad_norm: meanOf(steps.flatMap(({ gradientNorm, skipped }) => (skipped ? [] : [gradientNorm]))),
  };
}

const sampledEntropies = ({ nodes }: Trajectory) =>
  nodes.flatMap(({ entropies }) => [...entropies].filter((entropy) => !Number.isNaN(entropy)));

function overAll({ sequence }: Rollout, advantage: Advantage): number {
  if (typeof advantage === 'number') return advantage;
  return meanOf([...advantage].filter((_, t) => sequence.actionMask[t] === 1));
}

/** The lesson's arrays, stretched over the tokens behind the last sampled one, which no learner saw. */
function learnedTokens(
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
