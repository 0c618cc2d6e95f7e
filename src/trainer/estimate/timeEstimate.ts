import { isCriticEstimator } from '../algorithm/advantageEstimators.js';
import { playsAhead } from '../data/playedAhead.js';
import { isPlayed, stagePlans } from '../data/stages.js';
import type { Provider } from '../graph/provider.js';
import { packingLimits } from '../model/learnerLimits.js';
import type { LlamaConfig } from '../model/llamaConfig.js';
import type { Settings } from '../run/settings.js';
import { parameterCount } from './memoryEstimate.js';
import { forwardOperations, learningOperations, repeatedOperations, type EpisodeLength } from './operations.js';

/** How fast a device was measured to be (`whetstone devices`). */
export interface MeasuredDevice {
  readonly name: Provider;
  /** Billions of float32 operations a second on large matrix products. */
  readonly gflops: number;
  /** Billions of bytes of weights a second that decoding gets through. */
  readonly decodedGigabytes: number;
}

/** Seconds. */
export interface TimeEstimate {
  /** The policy's own computing, and as much beside it as episodes are known to take. */
  readonly rollouts: number;
  readonly learning: number;
  /** A step that plays; where steps are played ahead, one whose learning goes on while the next is played. */
  readonly step: number;
  /** The evaluations before and after; null where it is not known how many tasks are held out. */
  readonly evaluations: number | null;
  /** All steps, and the evaluations where they are known. Without a warm start. */
  readonly training: number;
}

type TimeSettings = Pick<
  Settings,
  | 'steps'
  | 'stages'
  | 'tasksPerStep'
  | 'groupSize'
  | 'iterations'
  | 'lora'
  | 'precision'
  | 'activationMemory'
  | 'klCoefficient'
  | 'algorithm'
  | 'asynchrony'
  | 'concurrency'
  | 'deterministic'
>;

/** Episodes that a step plays, branches and all; those of a branch are not longer than others. */
export const episodesOfStep = ({
  tasksPerStep,
  groupSize,
  algorithm: { pivots, continuations },
}: Pick<Settings, 'tasksPerStep' | 'groupSize' | 'algorithm'>) => tasksPerStep * (groupSize + pivots * continuations);

/**
 * Share of the products' measured speed that learning reaches, what its batches of several tens of tokens leave of it when
 * decoding: measured with the benchmarks of the learner (0.68 to 1.0) and of rollouts (0.2 to 0.5) on models of 4 and 30 million
 * parameters.
 */
const learningShare = 0.75;
const decodingShare = 0.4;

/**
 * Time of a step of the policy gradient whose groups all teach, in seconds, with E episodes, B of them side by side, and W bytes of
 * weights:
 *
 *   rollouts = E forward / (0.4 gflops) + E sampled / B * W / decodedGigabytes + E beside
 *   learning = E (iterations * learning + passes * forward) / (0.75 gflops)
 *
 * forward and learning are operations of one episode (operations.ts); the passes are those of the reference and of the
 * probabilities before the update, where they are asked for; learning has one more where an episode is longer than a micro-batch
 * that keeps what its layers compute, since they are then computed twice (packing.ts); `beside` is what the commands and tests of
 * an episode add. What the rollouts of a group share is counted for each. Where steps are played ahead (`asynchrony`), learning goes on
 * during E beside, in all steps of a stage but the last; player and learner compute by turns, since they share the device.
 * `heldoutEpisodes` are those of one evaluation, null where they are not known.
 */
export function estimateTime(
  config: LlamaConfig,
  settings: TimeSettings,
  { name: device, gflops, decodedGigabytes }: MeasuredDevice,
  length: EpisodeLength,
  { heldoutEpisodes, besideSeconds }: { readonly heldoutEpisodes: number | null; readonly besideSeconds: number },
): TimeEstimate {
  const forward = forwardOperations(config, length);
  const slots = settings.deterministic ? 1 : settings.concurrency;
  const playing = (episodes: number) => {
    const decodedTokens = (episodes * length.sampled) / Math.max(1, Math.min(slots, episodes));
    const computing = (episodes * forward) / (decodingShare * gflops * 1e9);
    const decoding = (decodedTokens * 4 * parameterCount(config)) / (decodedGigabytes * 1e9);
    return computing + decoding + episodes * besideSeconds;
  };
  const episodes = episodesOfStep(settings);
  const { precision, activationMemory } = settings;
  const limits = packingLimits({ config, device, precision, activationBytes: activationMemory * 2 ** 20 });
  const repeated = length.tokens > limits.tokens(0) ? repeatedOperations(config, length) : 0;
  const updates = settings.iterations * (learningOperations(config, length, settings.lora.rank > 0) + repeated);
  const learning = (episodes * (updates + scoringPasses(settings) * forward)) / (learningShare * gflops * 1e9);
  const rollouts = playing(episodes);
  const overlap = playsAhead(settings) ? Math.min(learning, episodes * besideSeconds) : 0;
  const evaluations = heldoutEpisodes === null ? null : 2 * playing(heldoutEpisodes);
  const stageTimes = stagePlans(settings).map(({ settings: stage }) => {
    if (!isPlayed(stage)) return stage.steps * learning;
    return stage.steps * (rollouts + learning) - (stage.steps - 1) * overlap;
  });
  return {
    rollouts,
    learning,
    step: rollouts + learning - overlap,
    evaluations,
    training: stageTimes.reduce((sum, seconds) => sum + seconds, evaluations ?? 0),
  };
}

/** Passes forwards beside the updates' own: the reference's, and the policy's before its first update and before each further one. */
function scoringPasses({ klCoefficient, algorithm, asynchrony, iterations }: TimeSettings): number {
  const reference = klCoefficient > 0 ? 1 : 0;
  const { loss, entropyCoefficient, importanceCorrection, advantage } = algorithm;
  const isScored =
    reference > 0 ||
    importanceCorrection !== 'none' ||
    asynchrony.maxStaleness > 0 ||
    loss === 'cispo' ||
    entropyCoefficient > 0 ||
    isCriticEstimator(advantage);
  return reference + (isScored ? 1 : 0) + (iterations - 1);
}
