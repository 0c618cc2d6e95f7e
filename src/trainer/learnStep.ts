import { badInput } from '../trajectory/errors.js';
import { say } from '../trajectory/said.js';
import type { LearnedTokens, Trajectory } from '../trajectory/trajectory.js';
import {
  estimateAdvantages,
  isCriticEstimator,
  isTurnEstimator,
  silentGroups,
  type Advantage,
  type ComparingEstimator,
  type Outcome,
} from './algorithm/advantageEstimators.js';
import { groupAdvantages } from './algorithm/advantages.js';
import { forcedMetrics, meanOf, rolloutMetrics } from './algorithm/stepMetrics.js';
import { judge } from './critic.js';
import { noHindsight, toldOfHindsight, type HindsightLesson } from './hindsightLesson.js';
import { updateCounts } from './learnerCalls.js';
import { learnedTokens, lossOptions, stalenessOf, update, updateMetrics } from './learnUpdate.js';
import { overlongOf, rewardPenalties, rolloutOf, scoresBefore, teaches, type Rollout } from './lessons.js';
import type { Learner } from './model/policy.js';
import { checkActionMask } from './rollout/actionMask.js';
import { ownNodes } from './rollout/nodes.js';
import type { Settings } from './run/settings.js';
import { milestoneCount } from './shaping/milestones.js';
import { branchMetrics, fromPrompt, treePlaces } from './treePlaces.js';
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
  /** Turns in which a rollout reached its milestones (shaping/milestones.ts), for subgoal returns. */
  readonly milestonesOf?: (trajectory: Trajectory) => ReadonlyMap<string, number>;
  /** Imitated beside the step's loss. */
  readonly hindsight?: HindsightLesson;
}

/**
 * One step of learning on the groups' trajectories: forms advantages and coefficients as `settings.algorithm` says and
 * updates the learner `settings.iterations` times. Silent groups (equal rewards) give no gradient, so the learner is not even
 * asked about them; where all are silent nothing is updated: the weights stay bit for bit, and the optimizer's momentum does
 * not carry them on. With a critic no group is silent, since it has yet to learn what is equal. What is replayed or was played ahead
 * is corrected for the weights that sampled it, also where nothing else is.
 * @param reference the frozen policy of the KL term; null without one
 * @param step number of the step, 1 for the first
 */
export async function learnStep(
  learner: Learner,
  reference: Learner | null,
  groups: readonly (readonly Trajectory[])[],
  settings: Settings,
  step: number,
  {
    replayed = [],
    oracleTurn = () => null,
    milestonesOf = () => new Map<string, number>(),
    hindsight = noHindsight,
  }: LearnStepExtras = {},
): Promise<LearnedStep> {
  const everything = [...groups, ...replayed];
  const problems = everything.flat().flatMap(checkActionMask);
  if (problems.length > 0) throw new Error(`internal: action mask: ${problems[0]}`);
  refuseConstrained(everything.flat());
  const { advantage: estimator, dynamicSampling } = settings.algorithm;
  const turns = await turnViews(learner, everything.flat(), settings, oracleTurn, milestonesOf);
  const rollouts = everything.map((group, index) => {
    const [isReplayed, places] = [index >= groups.length, treePlaces(group)];
    return group.map((one) => {
      const isStale = isReplayed || stalenessOf(one, step) > 0;
      return rolloutOf(one, settings, isStale, turns.get(one), places.get(one));
    });
  });
  const hasCritic = isCriticEstimator(estimator);
  const silent = hasCritic ? [] : silentGroups(estimator, rollouts, settings.algorithm);
  const teaching = rollouts.filter((_, index) => !silent[index]);
  const lessons = teaching.flat().filter((rollout) => teaches(rollout, settings));
  const scores = await scoresBefore(learner, reference, lessons, settings);
  const penalties = rewardPenalties(lessons, scores, settings);
  const compared =
    hasCritic && estimator !== 'scored-turns'
      ? new Map<Rollout, Advantage>()
      : comparedAdvantages(hasCritic ? 'turn-discounted' : estimator, rollouts, penalties, settings);
  const judgement = hasCritic ? judge(lessons, scores, penalties, settings, compared) : null;
  const advantageOf = hasCritic
    ? new Map(lessons.map((lesson, index) => [lesson, judgement!.advantages[index]]))
    : compared;
  const credit = { advantages: lessons.map((lesson) => advantageOf.get(lesson)!), judgement };
  // A step that was filled up with groups that teach is averaged over them alone.
  const options = lossOptions((dynamicSampling > 0 ? teaching : rollouts).flat(), settings);
  const isTaught = lessons.length + hindsight.trajectories.length > 0;
  const updates = isTaught ? await update(learner, lessons, credit, scores, options, settings, hindsight) : null;
  const told = toldOfHindsight(hindsight, updates?.hindsight ?? [], step);
  const own = rollouts.slice(0, groups.length);
  const rewards = own.map((group) => group.map(({ reward }) => reward));
  return {
    metrics: {
      ...rolloutMetrics(
        groups.flat().filter(fromPrompt),
        rewards.map((group) => groupAdvantages(group)),
      ),
      ...branchMetrics(groups),
      // What leaves the rollouts is explored as they are.
      ...forcedMetrics(groups.flat()),
      ...overlongMetrics(groups.flat(), settings),
      entropy: meanOf(groups.flat().flatMap(sampledEntropies)),
      ...(updates && updateMetrics(lessons, scores, updates, step)),
      ...told.metrics,
      learning_rate: settings.learningRate,
      ...updateCounts(updates?.steps ?? []),
    },
    advantages: rollouts.map((group) => group.map((rollout) => overAll(rollout, advantageOf.get(rollout) ?? 0))),
    learned:
      updates === null
        ? []
        : [
            ...lessons.map((lesson, index) =>
              learnedTokens(lesson, credit.advantages[index], scores, updates, index, step),
            ),
            ...told.learned,
          ],
  };
}

function comparedAdvantages(
  estimator: ComparingEstimator,
  rollouts: readonly (readonly Rollout[])[],
  penalties: ReadonlyMap<Rollout, Float64Array>,
  { algorithm }: Settings,
): ReadonlyMap<Rollout, Advantage> {
  const estimated = estimateAdvantages(
    estimator,
    rollouts.map((group) => group.map((rollout) => ({ ...rollout, penalties: penalties.get(rollout) ?? null }))),
    algorithm,
  );
  return new Map(rollouts.flatMap((group, i) => group.map((one, sample) => [one, estimated[i][sample]])));
}

/** Ratios to the learner's probabilities would be wrong: it does not renormalize over what a grammar allowed. */
function refuseConstrained(trajectories: readonly Trajectory[]): void {
  const one = trajectories.find(({ constrained }) => constrained === true);
  if (one === undefined) return;
  throw badInput(
    say`${one.id} was sampled under the grammar of valid calls, which the policy gradient cannot learn from.`,
    'Leave out `constrainedCalls`, or learn with stages of rejection-sampling or preferences.',
  );
}

/** Turns of each trajectory, where the estimator compares them. */
async function turnViews(
  learner: Learner,
  trajectories: readonly Trajectory[],
  { algorithm, shaping }: Settings,
  oracleTurn: (taskId: string) => Int32Array | null,
  milestonesOf: (trajectory: Trajectory) => ReadonlyMap<string, number>,
): Promise<ReadonlyMap<Trajectory, Outcome['turns']>> {
  if (!isTurnEstimator(algorithm.advantage) && algorithm.advantage !== 'scored-turns') return new Map();
  const gains =
    algorithm.advantage === 'igpo'
      ? await scoreInformationGains(
          learner,
          trajectories,
          trajectories.map(({ taskId }) => oracleTurn(taskId)),
        )
      : null;
  const worth = shaping.milestones / milestoneCount;
  const subgoalsOf = (trajectory: Trajectory) =>
    algorithm.advantage === 'subgoals' ? { reachedIn: milestonesOf(trajectory), worth } : null;
  return new Map(
    trajectories.map(
      (trajectory, index) =>
        [trajectory, turnViewOf(trajectory, gains && gains[index], subgoalsOf(trajectory))] as const,
    ),
  );
}

const overlongMetrics = (trajectories: readonly Trajectory[], settings: Settings): Record<string, number> =>
  settings.algorithm.overlongBuffer === 0
    ? {}
    : { 'rewards/overlong/mean': meanOf(trajectories.map((trajectory) => overlongOf(trajectory, settings))) };

const sampledEntropies = (trajectory: Trajectory) =>
  ownNodes(trajectory).flatMap(({ entropies }) => [...entropies].filter((entropy) => !Number.isNaN(entropy)));

function overAll({ sequence }: Rollout, advantage: Advantage): number {
  if (typeof advantage === 'number') return advantage;
  return meanOf([...advantage].filter((_, t) => sequence.actionMask[t] === 1));
}
