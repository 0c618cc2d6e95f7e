import { equalRewards, groupAdvantages } from './advantages.js';
import { drGrpoAdvantages } from './drGrpo.js';
import { gigpoAdvantages } from './gigpo.js';
import { criticEstimatorNames, type CriticEstimator } from './criticEstimators.js';
import { igpoAdvantages } from './igpo.js';
import { reinforcePlusPlusAdvantages } from './reinforcePlusPlus.js';
import { rlooAdvantages } from './rloo.js';
import { overParts, treeAdvantages, type TreePlace } from './treeAdvantages.js';
import { subgoalAdvantages } from './subgoals.js';
import { turnDiscounted } from './turnDiscounted.js';
import { overTokens } from './turnReturns.js';
import type { TurnView } from './turnView.js';

const wholeEstimatorNames = ['grpo', 'dr-grpo', 'rloo', 'reinforce++', 'reinforce++-baseline'] as const;
const turnEstimatorNames = ['turn-discounted', 'gigpo', 'igpo', 'subgoals'] as const;
/** Those that hold a rollout against others. */
export const comparingEstimatorNames = [...wholeEstimatorNames, ...turnEstimatorNames] as const;
export type ComparingEstimator = (typeof comparingEstimatorNames)[number];
export const advantageEstimatorNames = [...comparingEstimatorNames, ...criticEstimatorNames] as const;
export type AdvantageEstimator = (typeof advantageEstimatorNames)[number];
type TurnEstimator = (typeof turnEstimatorNames)[number];

/** Whether the estimator holds a rollout against what a critic expects of it (criticEstimators.ts). */
export const isCriticEstimator = (estimator: AdvantageEstimator): estimator is CriticEstimator =>
  (criticEstimatorNames as readonly string[]).includes(estimator);

/** Whether the estimator holds the rollouts of a group against each other as wholes, so that it can do so where they part. */
export const isGroupEstimator = (estimator: AdvantageEstimator): estimator is keyof typeof ofGroup =>
  estimator in ofGroup;

/** Whether the estimator compares turns. */
export const isTurnEstimator = (estimator: AdvantageEstimator): estimator is TurnEstimator =>
  (turnEstimatorNames as readonly string[]).includes(estimator);

export interface EstimatorOptions {
  /** Discount from turn to turn. */
  readonly turnDiscount: number;
  /** omega of GiGPO, and of subgoal returns. */
  readonly stepWeight: number;
}

/** One rollout, as an estimator sees it. */
export interface Outcome {
  /** Null where the machine failed. */
  readonly reward: number | null;
  readonly actionMask: Uint8Array;
  /** What each token costs (kl.ts): [time]; null where nothing does. */
  readonly penalties: Float64Array | null;
  /** Needed by those estimators that tell turns apart. */
  readonly turns?: TurnView;
  /** Set in a group whose rollouts leave one another. */
  readonly place?: TreePlace;
}

/** Of the whole trajectory, or of each token: [time]. */
export type Advantage = number | Float64Array;

/**
 * Which groups give no gradient, neither from the reward nor from the terms beside it: those of equal rewards, compared
 * exactly and before any penalty. REINFORCE++ has no groups; its baseline is the batch, so only a batch of equal rewards is
 * silent. GiGPO, IGPO and subgoal returns reward turns too: a group of theirs is silent where no turn differs from its like.
 * @param groups [groups][group]
 */
export function silentGroups(
  estimator: ComparingEstimator,
  groups: readonly (readonly Outcome[])[],
  options: EstimatorOptions,
): boolean[] {
  const rewards = groups.map((group) => group.map(({ reward }) => reward));
  if (isTurnEstimator(estimator) && estimator !== 'turn-discounted') {
    return groups.map((group) =>
      turnAdvantages(estimator, group, options).every((advantage) => advantage.every((value) => value === 0)),
    );
  }
  const whole = equalRewards(rewards.flat());
  return rewards.map((group) => (estimator === 'reinforce++' ? whole : equalRewards(group)));
}

/**
 * Advantages of a step's rollouts, group by group; 0 where the machine failed and in silent groups. Penalties are taken out
 * of the reward: token by token for REINFORCE++, their sum for the others (as in verl); those that tell turns apart know none.
 * @returns [groups][group]
 */
export function estimateAdvantages(
  estimator: ComparingEstimator,
  groups: readonly (readonly Outcome[])[],
  options: EstimatorOptions,
): Advantage[][] {
  if (isTurnEstimator(estimator)) return groups.map((group) => turnAdvantages(estimator, group, options));
  if (estimator === 'reinforce++') return whitened(groups, ({ reward }) => reward, true);
  if (estimator === 'reinforce++-baseline') {
    const silent = silentGroups(estimator, groups, options);
    const centred = new Map(
      groups.flatMap((group, index) => {
        if (silent[index]) return [];
        const { advantages } = relative(drGrpoAdvantages, group);
        return group.map((outcome, sample) => [outcome, outcome.reward === null ? null : advantages[sample]] as const);
      }),
    );
    return whitened(groups, (outcome) => centred.get(outcome) ?? null, false);
  }
  return groups.map((group) =>
    group.some(({ place }) => place !== undefined)
      ? treeOf(ofGroup[estimator], group)
      : [...relative(ofGroup[estimator], group).advantages],
  );
}

/** One advantage a token: [group][time]. */
function treeOf(advantagesOf: typeof groupAdvantages, group: readonly Outcome[]): Float64Array[] {
  const members = group.map(({ reward, place }) => ({ reward, parent: place!.parent, shared: place!.shared }));
  const parts = treeAdvantages(members, (values) => advantagesOf(values).advantages);
  return group.map(({ place, actionMask }, index) => overParts(parts[index], place!.nodeOfToken, actionMask));
}

/** One advantage a token: [group][time]. */
function turnAdvantages(
  estimator: TurnEstimator,
  group: readonly Outcome[],
  { turnDiscount: gamma, stepWeight }: EstimatorOptions,
): Float64Array[] {
  const views = group.map(({ turns }) => turns!);
  if (estimator === 'turn-discounted') {
    const { advantages } = groupAdvantages(group.map(({ reward }) => reward));
    return group.map(({ actionMask }, index) =>
      turnDiscounted(advantages[index], views[index].turnOfToken, views[index].states.length, actionMask, gamma),
    );
  }
  const byTurn = comparedTurns(estimator, group, views, { turnDiscount: gamma, stepWeight });
  return group.map(({ actionMask }, index) => overTokens(byTurn[index], views[index].turnOfToken, actionMask));
}

/** One advantage a turn: [group][turns] */
function comparedTurns(
  estimator: Exclude<TurnEstimator, 'turn-discounted'>,
  group: readonly Outcome[],
  views: readonly TurnView[],
  { turnDiscount: gamma, stepWeight }: EstimatorOptions,
): number[][] {
  switch (estimator) {
    case 'gigpo':
      return gigpoAdvantages(
        group.map(({ reward }, index) => ({
          reward,
          states: views[index].states,
          turnRewards: atTheEnd(reward ?? 0, views[index].states.length),
        })),
        { gamma, stepWeight, normalize: true },
      );
    case 'igpo':
      return igpoAdvantages(
        group.map(({ reward }, index) => ({ reward, gains: views[index].gains! })),
        gamma,
      );
    case 'subgoals':
      return subgoalAdvantages(
        group.map(({ reward }, index) => ({
          reward,
          turns: views[index].states.length,
          ...views[index].subgoals!,
        })),
        { gamma, stepWeight },
      );
  }
}

const atTheEnd = (reward: number, turns: number) =>
  Array.from({ length: turns }, (_, turn) => (turn === turns - 1 ? reward : 0));

const ofGroup = { grpo: groupAdvantages, 'dr-grpo': drGrpoAdvantages, rloo: rlooAdvantages };

function relative(advantagesOf: typeof groupAdvantages, group: readonly Outcome[]) {
  const outcomes = group.map(({ reward }) => reward);
  const rewards = group.map(({ reward, penalties }) =>
    reward === null || penalties === null ? reward : reward - penalties.reduce((sum, each) => sum + each, 0),
  );
  return advantagesOf(rewards, outcomes);
}

/** REINFORCE++ on the rollouts that have a reward; 0 for the others. */
function whitened(
  groups: readonly (readonly Outcome[])[],
  rewardOf: (outcome: Outcome) => number | null,
  penalized: boolean,
): Advantage[][] {
  const rewarded = groups.flat().flatMap((outcome) => {
    const reward = rewardOf(outcome);
    return reward === null ? [] : [{ outcome, reward }];
  });
  const advantages = reinforcePlusPlusAdvantages(
    rewarded.map(({ reward }) => reward),
    rewarded.map(({ outcome }) => outcome.actionMask),
    penalized ? rewarded.map(({ outcome }) => outcome.penalties ?? new Float64Array(outcome.actionMask.length)) : null,
  );
  const byOutcome = new Map(rewarded.map(({ outcome }, index) => [outcome, advantages[index]]));
  return groups.map((group) => group.map((outcome) => byOutcome.get(outcome) ?? 0));
}
