import type { Trajectory } from '../trajectory/trajectory.js';
import { groupAdvantages } from './algorithm/advantages.js';
import { dpoCoefficients } from './algorithm/dpo.js';
import { ipoCoefficients } from './algorithm/ipo.js';
import { ktoCoefficients, ktoReferencePoint } from './algorithm/kto.js';
import { orpoCoefficients } from './algorithm/orpo.js';
import { preferencePairs } from './algorithm/preferencePairs.js';
import {
  sequenceLogprob,
  sequenceLogratio,
  type PairGradient,
  type ReferencedSequence,
} from './algorithm/scoredSequence.js';
import { simpoCoefficients } from './algorithm/simpo.js';
import { meanOf, rolloutMetrics } from './algorithm/stepMetrics.js';
import { learnedAlong } from './learnedAlong.js';
import { optimizerOptions, updateCounts } from './learnerCalls.js';
import type { LearnedStep } from './learnStep.js';
import { mismatchedSequences } from './mismatchedSequences.js';
import type { Learner, StepResult, TrainingSequence } from './model/policy.js';
import { checkActionMask } from './rollout/actionMask.js';
import { learnedMasks, trainingSequence } from './rollout/nodes.js';
import type { PreferenceStage } from './run/routeSettings.js';
import type { Settings } from './run/settings.js';

/** Indices into the trajectories of the step. */
interface PreferencePair {
  readonly chosen: number;
  readonly rejected: number;
}

/** What a loss makes of the step's sequences. */
interface PreferenceGradient {
  /** dL/dlp, one array a sequence: [time] */
  readonly coefficients: readonly Float32Array[];
  readonly loss: number;
  readonly margins: readonly number[];
}

/**
 * One step of an offline loss on the groups: pairs of a better and a worse trajectory of the same task (KTO: the trajectories
 * of such pairs by themselves, those that are better than another as the good). Groups of equal rewards, compared exactly, have no
 * pair and no gradient; without any pair nothing is updated and the weights stay bit for bit. One update an epoch.
 * @param reference the weights that the stage began with; not looked at by ORPO and SimPO
 */
export async function preferenceStep(
  learner: Learner,
  reference: Learner | null,
  groups: readonly (readonly Trajectory[])[],
  stage: PreferenceStage,
  settings: Settings,
  step: number,
): Promise<LearnedStep> {
  const problems = groups.flat().flatMap(checkActionMask);
  if (problems.length > 0) throw new Error(`internal: action mask: ${problems[0]}`);
  const playable = groups.map((group) => group.map(rewardToCompare));
  const { lessons, pairs } = lessonsOf(groups, playable, stage);
  const sequences = lessons.map(trainingSequence);
  const all = [...sequences, ...referencePointSequences(lessons, groups, playable, stage)];
  const referenceScores =
    usesReference(stage) && lessons.length > 0 ? await referenceOf(reference).score(all, 1) : null;
  const learningRate = stage.learningRate ?? settings.learningRate;
  const updates: StepResult[] = [];
  let first: { gradient: PreferenceGradient; scored: readonly ReferencedSequence[] } | null = null;
  for (let epoch = 0; epoch < (lessons.length === 0 ? 0 : stage.epochs); epoch++) {
    const scores = await learner.score(all, 1);
    const referenced = all.map(({ actionMask }, index) => ({
      actionMask,
      logprobs: scores[index].logprobs,
      referenceLogprobs: referenceScores?.[index].logprobs ?? new Float32Array(actionMask.length).fill(NaN),
    }));
    const scored = referenced.slice(0, sequences.length);
    const gradient = gradientOf(scored, referenced.slice(sequences.length), pairs, stage);
    first ??= { gradient, scored };
    await learner.accumulate(
      sequences,
      gradient.coefficients.map((logprobs) => ({ logprobs, entropies: null })),
      1,
    );
    updates.push(await learner.step(optimizerOptions({ ...settings, learningRate })));
  }
  const sides = new Map<string, number>();
  for (const { chosen, rejected } of pairs) {
    sides.set(lessons[chosen].id, 1);
    if (!sides.has(lessons[rejected].id)) sides.set(lessons[rejected].id, -1);
  }
  return {
    metrics: {
      // What was recorded before says nothing about the policy of this step.
      ...(!stage.recorded &&
        rolloutMetrics(
          groups.flat(),
          playable.map((group) => groupAdvantages(group)),
        )),
      'preference/pairs': pairs.length,
      ...(first && pairMetrics(first.gradient, first.scored, pairs)),
      ...(updates.length > 0 && {
        grad_norm: meanOf(updates.flatMap(({ gradientNorm, skipped }) => (skipped ? [] : [gradientNorm]))),
      }),
      learning_rate: learningRate,
      ...updateCounts(updates),
    },
    advantages: groups.map((group) => group.map(({ id }) => sides.get(id) ?? 0)),
    learned:
      first === null
        ? []
        : lessons.map((trajectory, index) =>
            learnedAlong(trajectory, step, sides.get(trajectory.id) ?? 0, {
              logprobs: first.scored[index].logprobs,
              ...(referenceScores && { referenceLogprobs: referenceScores[index].logprobs }),
              coefficients: first.gradient.coefficients[index],
            }),
          ),
  };
}

/** Null where there is nothing to hold against another: the machine failed, or the policy never spoke. */
const rewardToCompare = (trajectory: Trajectory) =>
  trajectory.grade !== null && learnedMasks(trajectory).some((mask) => mask.includes(1))
    ? trajectory.grade.reward
    : null;

const usesReference = ({ method }: PreferenceStage) => method === 'dpo' || method === 'ipo' || method === 'kto';

function referenceOf(reference: Learner | null): Learner {
  if (reference === null) throw new Error('internal: a loss that needs a reference has none');
  return reference;
}

/**
 * What KTO's reference point z_0, an estimate of KL(pi || pi_ref), is taken from. That is an expectation over what the policy itself
 * would say: all that it has just played, and not only what came into a pair. What was recorded before others have said, or it has
 * learned from it already; the paper and TRL, whose data is not the policy's either, take the answers behind prompts that they do
 * not belong to. On the answers learned from z_0 would be what the loss itself moves.
 */
function referencePointSequences(
  lessons: readonly Trajectory[],
  groups: readonly (readonly Trajectory[])[],
  rewards: readonly (readonly (number | null)[])[],
  { method, recorded }: PreferenceStage,
): readonly TrainingSequence[] {
  if (method !== 'kto' || lessons.length === 0) return [];
  if (recorded) return mismatchedSequences(lessons);
  return groups.flatMap((group, index) => group.filter((_, i) => rewards[index][i] !== null).map(trainingSequence));
}

/** The pairs of each task, those of the largest difference first and at most as many as the stage takes, and who is in them. */
function lessonsOf(
  groups: readonly (readonly Trajectory[])[],
  rewards: readonly (readonly (number | null)[])[],
  { pairsPerTask }: PreferenceStage,
): { lessons: readonly Trajectory[]; pairs: readonly PreferencePair[] } {
  const chosenPairs = groups.flatMap((group, index) => {
    const difference = ({ chosen, rejected }: PreferencePair) => rewards[index][chosen]! - rewards[index][rejected]!;
    return preferencePairs(rewards[index])
      .sort((a, b) => difference(b) - difference(a) || a.chosen - b.chosen || a.rejected - b.rejected)
      .slice(0, pairsPerTask)
      .map(({ chosen, rejected }) => ({ chosen: group[chosen], rejected: group[rejected] }));
  });
  const lessons = [...new Set(chosenPairs.flatMap(({ chosen, rejected }) => [chosen, rejected]))];
  const at = new Map(lessons.map((trajectory, index) => [trajectory, index]));
  return {
    lessons,
    pairs: chosenPairs.map(({ chosen, rejected }) => ({ chosen: at.get(chosen)!, rejected: at.get(rejected)! })),
  };
}

/** @param apart what KTO's reference point is taken from */
function gradientOf(
  scored: readonly ReferencedSequence[],
  apart: readonly ReferencedSequence[],
  pairs: readonly PreferencePair[],
  stage: PreferenceStage,
): PreferenceGradient {
  if (stage.method === 'kto') return ktoGradient(scored, ktoReferencePoint(apart), pairs, stage.beta ?? 0.1);
  const of = pairLoss(stage, pairs.length);
  const coefficients = scored.map(({ actionMask }) => new Float32Array(actionMask.length));
  const margins: number[] = [];
  let loss = 0;
  for (const { chosen, rejected } of pairs) {
    const found = of({ chosen: scored[chosen], rejected: scored[rejected] });
    found.chosen.forEach((value, t) => (coefficients[chosen][t] += value));
    found.rejected.forEach((value, t) => (coefficients[rejected][t] += value));
    margins.push(found.margin);
    loss += found.loss;
  }
  return { coefficients, loss, margins };
}

type PairOf = { chosen: ReferencedSequence; rejected: ReferencedSequence };

function pairLoss({ method, beta, margin: gamma }: PreferenceStage, pairs: number): (pair: PairOf) => PairGradient {
  switch (method) {
    case 'dpo':
      return (pair) => dpoCoefficients(pair, { beta: beta ?? 0.1, pairs });
    case 'ipo':
      return (pair) => ipoCoefficients(pair, { beta: beta ?? 0.1, pairs });
    case 'orpo':
      return (pair) => orpoCoefficients(pair, { lambda: beta ?? 0.1, pairs });
    case 'simpo':
      return (pair) => simpoCoefficients(pair, { beta: beta ?? 2, gamma, pairs });
    case 'kto':
      throw new Error('internal: KTO has no pairs');
  }
}

/** KTO takes the good and the bad ones by themselves. */
function ktoGradient(
  scored: readonly ReferencedSequence[],
  referencePoint: number,
  pairs: readonly PreferencePair[],
  beta: number,
): PreferenceGradient {
  const good = new Set(pairs.map(({ chosen }) => chosen));
  const options = { beta, referencePoint, desirableWeight: 1, undesirableWeight: 1, trajectories: scored.length };
  const found = scored.map((sequence, index) => ktoCoefficients(sequence, good.has(index), options));
  return {
    coefficients: found.map(({ coefficients }) => coefficients),
    loss: found.reduce((sum, { loss }) => sum + loss, 0),
    margins: pairs.map(
      ({ chosen, rejected }) => beta * (sequenceLogratio(scored[chosen]) - sequenceLogratio(scored[rejected])),
    ),
  };
}

/** By TRL's names; those of the first update. */
function pairMetrics(
  { loss, margins }: PreferenceGradient,
  scored: readonly ReferencedSequence[],
  pairs: readonly PreferencePair[],
): Record<string, number> {
  return {
    loss,
    'rewards/margins': meanOf(margins),
    'rewards/accuracies': meanOf(margins.map((margin) => (margin > 0 ? 1 : 0))),
    'logps/chosen': meanOf(pairs.map(({ chosen }) => sequenceLogprob(scored[chosen]))),
    'logps/rejected': meanOf(pairs.map(({ rejected }) => sequenceLogprob(scored[rejected]))),
  };
}
