import type { Trajectory } from '../trajectory/trajectory.js';
import { isCriticEstimator, type Outcome } from './algorithm/advantageEstimators.js';
import { importanceWeights } from './algorithm/importance.js';
import { klPenalties } from './algorithm/kl.js';
import { overlongPenalty } from './algorithm/overlong.js';
import { isTruncated } from './algorithm/stepMetrics.js';
import { scoreAtTemperatures } from './learnerCalls.js';
import type { Learner, SequenceScores, TrainingSequence } from './model/policy.js';
import { samplerLogprobs, trainingSequence } from './rollout/nodes.js';
import type { Settings } from './run/settings.js';

/** A trajectory on its way through the step; a lesson, where it teaches something. */
export interface Rollout extends Outcome {
  readonly trajectory: Trajectory;
  readonly sequence: TrainingSequence;
  /** Whether older weights sampled it than learn from it: it is replayed, or was played ahead. */
  readonly isStale: boolean;
}

/** What is known of the lessons before the first update; one array a lesson, [time]. */
export interface Scores {
  /** Null where the ratio of the first update is 1 whatever the log-probabilities are, so nobody has to know them before. */
  readonly old: readonly SequenceScores[] | null;
  readonly referenceLogprobs: readonly Float32Array[] | null;
  readonly importanceWeights: readonly Float64Array[] | null;
}

export function rolloutOf(
  trajectory: Trajectory,
  settings: Settings,
  isStale: boolean,
  turns: Outcome['turns'],
  place: Outcome['place'],
): Rollout {
  const sequence = trainingSequence(trajectory);
  const reward = shapedReward(trajectory, settings);
  return { trajectory, sequence, reward, actionMask: sequence.actionMask, penalties: null, isStale, turns, place };
}

/** What the rollout learns from: its reward and what its length takes from that; null where the machine failed. */
export function shapedReward(trajectory: Trajectory, settings: Settings): number | null {
  if (trajectory.grade === null) return null;
  return trajectory.grade.reward + overlongOf(trajectory, settings);
}

export function overlongOf({ statistics }: Trajectory, { algorithm, maxTurns, maxTokensPerTurn }: Settings): number {
  const { overlongBuffer, overlongFactor, overlongLength } = algorithm;
  if (overlongBuffer === 0) return 0;
  const most = overlongLength === 0 ? maxTurns * maxTokensPerTurn : overlongLength;
  return overlongFactor * overlongPenalty(statistics.sampledTokens, most, overlongBuffer);
}

export const teaches = ({ reward, sequence, trajectory }: Rollout, { algorithm }: Settings) =>
  reward !== null && sequence.tokenIds.length > 0 && !(algorithm.maskTruncated && isTruncated(trajectory));

export async function scoresBefore(
  learner: Learner,
  reference: Learner | null,
  lessons: readonly Rollout[],
  { algorithm }: Settings,
): Promise<Scores> {
  if (lessons.length === 0) return { old: null, referenceLogprobs: null, importanceWeights: null };
  const sequences = lessons.map(({ sequence }) => sequence);
  const temperatures = lessons.map(({ trajectory }) => trajectory.temperature);
  const referenceScores = reference && (await scoreAtTemperatures(reference, sequences, temperatures));
  const { advantage, loss, entropyCoefficient, importanceCorrection, importanceLow, importanceHigh } = algorithm;
  const corrections = lessons.map(({ isStale }) => {
    // V-trace's advantages carry their weights (critic.ts).
    if (importanceCorrection === 'v-trace') return 'none';
    return isStale && importanceCorrection === 'none' ? 'token-truncate' : importanceCorrection;
  });
  const isCorrected = corrections.some((correction) => correction !== 'none');
  const needed =
    reference !== null || isCorrected || loss === 'cispo' || entropyCoefficient > 0 || isCriticEstimator(advantage);
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
export function rewardPenalties(
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
