import type { LearnedTokens, Trajectory } from '../trajectory/trajectory.js';
import { sampledTokens } from './algorithm/policyGradient.js';
import { meanOf } from './algorithm/stepMetrics.js';
import { supervisedCoefficients } from './algorithm/supervised.js';
import { learnedAlong } from './learnedAlong.js';
import type { Learner, SequenceScores, TrainingSequence } from './model/policy.js';
import { trainingSequence } from './rollout/nodes.js';

/** What a step imitates beside its own loss: failures relabelled as smaller tasks that they solved (data/hindsight.ts). */
export interface HindsightLesson {
  readonly trajectories: readonly Trajectory[];
  readonly sequences: readonly TrainingSequence[];
  /** dL/dlp of L = -weight / tokens * sum lp over the sampled tokens of all of them: [time] each */
  readonly coefficients: readonly Float32Array[];
}

export const noHindsight: HindsightLesson = { trajectories: [], sequences: [], coefficients: [] };

/** @param weight of the imitation beside the step's own loss */
export function hindsightLesson(trajectories: readonly Trajectory[], weight: number): HindsightLesson {
  const sequences = trajectories.map(trainingSequence);
  const tokens = sequences.reduce((sum, { actionMask }) => sum + sampledTokens(actionMask), 0);
  const coefficients = sequences.map(({ actionMask }) =>
    supervisedCoefficients(actionMask, tokens).map((value) => value * weight),
  );
  return { trajectories, sequences, coefficients };
}

/** Adds the lesson's gradient to that of the update it is part of. */
export async function accumulateHindsight(
  learner: Learner,
  { sequences, coefficients }: HindsightLesson,
): Promise<SequenceScores[]> {
  if (sequences.length === 0) return [];
  return learner.accumulate(
    sequences,
    coefficients.map((logprobs) => ({ logprobs, entropies: null })),
    1,
  );
}

/** What the record is told of the lesson. @param scores of its first update; empty where there was none */
export function toldOfHindsight(
  { trajectories, coefficients }: HindsightLesson,
  scores: readonly SequenceScores[],
  step: number,
): { metrics: Record<string, number>; learned: LearnedTokens[] } {
  if (scores.length === 0) return { metrics: {}, learned: [] };
  const known = scores.flatMap(({ logprobs }) => [...logprobs].filter((value) => !Number.isNaN(value)));
  return {
    metrics: { 'hindsight/loss': -meanOf(known) },
    learned: trajectories.map((trajectory, index) =>
      learnedAlong(trajectory, step, 1, { logprobs: scores[index].logprobs, coefficients: coefficients[index] }),
    ),
  };
}
