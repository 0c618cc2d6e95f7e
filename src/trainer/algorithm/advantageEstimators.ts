import { equalRewards, groupAdvantages } from './advantages.js';
import { drGrpoAdvantages } from './drGrpo.js';
import { reinforcePlusPlusAdvantages } from './reinforcePlusPlus.js';
import { rlooAdvantages } from './rloo.js';

export const advantageEstimatorNames = ['grpo', 'dr-grpo', 'rloo', 'reinforce++', 'reinforce++-baseline'] as const;
export type AdvantageEstimator = (typeof advantageEstimatorNames)[number];

/** One rollout, as an estimator sees it. */
export interface Outcome {
  /** Null where the machine failed. */
  readonly reward: number | null;
  readonly actionMask: Uint8Array;
  /** What each token costs (kl.ts): [time]; null where nothing does. */
  readonly penalties: Float64Array | null;
}

/** Of the whole trajectory, or of each token: [time]. */
export type Advantage = number | Float64Array;

/**
 * Which groups give no gradient, neither from the reward nor from the terms beside it: those of equal rewards, compared
 * exactly and before any penalty. REINFORCE++ has no groups; its baseline is the batch, so only a batch of equal rewards is
 * silent.
 * @param rewards [groups][group]
 */
export function silentGroups(
  estimator: AdvantageEstimator,
  rewards: readonly (readonly (number | null)[])[],
): boolean[] {
  const whole = equalRewards(rewards.flat());
  return rewards.map((group) => (estimator === 'reinforce++' ? whole : equalRewards(group)));
}

/**
 * Advantages of a step's rollouts, group by group; 0 where the machine failed and in silent groups. Penalties are taken out
 * of the reward: token by token for REINFORCE++, their sum for the others (as in verl).
 * @returns [groups][group]
 */
export function estimateAdvantages(
  estimator: AdvantageEstimator,
  groups: readonly (readonly Outcome[])[],
): Advantage[][] {
  if (estimator === 'reinforce++') return whitened(groups, ({ reward }) => reward, true);
  if (estimator === 'reinforce++-baseline') {
    const silent = silentGroups(
      estimator,
      groups.map((group) => group.map(({ reward }) => reward)),
    );
    const centred = new Map(
      groups.flatMap((group, index) => {
        if (silent[index]) return [];
        const { advantages } = relative(drGrpoAdvantages, group);
        return group.map((outcome, sample) => [outcome, outcome.reward === null ? null : advantages[sample]] as const);
      }),
    );
    return whitened(groups, (outcome) => centred.get(outcome) ?? null, false);
  }
  return groups.map((group) => [...relative(ofGroup[estimator], group).advantages]);
}

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
