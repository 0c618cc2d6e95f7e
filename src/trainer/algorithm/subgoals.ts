import { gigpoAdvantages, type GigpoOptions } from './gigpo.js';

/** A rollout's way from subgoal to subgoal. */
export interface Subgoals {
  /** 0-based turn in which each subgoal that it came to was reached. */
  readonly reachedIn: ReadonlyMap<string, number>;
  /** What each is worth; the rollout's reward holds it already. */
  readonly worth: number;
}

/** One rollout of a group. */
export interface SubgoalEpisode extends Subgoals {
  /** Whole reward; null where the machine failed. */
  readonly reward: number | null;
  readonly turns: number;
}

/**
 * Rewards turn by turn that sum up to the rollout's: a subgoal is paid for in the turn that reached it and no longer at the end, where
 * the rest is earned: [turns]
 */
export function subgoalRewards({ reward, turns, reachedIn, worth }: SubgoalEpisode): number[] {
  const paid = Array.from({ length: turns }, (_, turn) => {
    const reached = [...reachedIn.values()].filter((at) => at === turn);
    return worth * reached.length;
  });
  const rest = (reward ?? 0) - paid.reduce((sum, each) => sum + each, 0);
  return paid.map((each, turn) => (turn === turns - 1 ? each + rest : each));
}

/** How far a rollout was before each turn: which subgoals it had reached, and how many turns ago the last of them. */
export function subgoalStates({ turns, reachedIn }: Pick<SubgoalEpisode, 'turns' | 'reachedIn'>): string[] {
  return Array.from({ length: turns }, (_, turn) => {
    const reached = [...reachedIn].filter(([, at]) => at < turn);
    const since = turn - reached.reduce((last, [, at]) => Math.max(last, at + 1), 0);
    return JSON.stringify([reached.map(([name]) => name).sort(), since]);
  });
}

/**
 * Advantages from subgoal returns (requirement T6): those of GiGPO (gigpo.ts), where turns are in the same state that have come as
 * far, whatever was said: with the same subgoals reached, and the last of them as many turns ago. Each is compared by the discounted
 * return of what it still earned, subgoals on the way included (BEACON, arXiv 2605.06078, parts rollouts at such milestones too), so
 * that a turn is credited with no subgoal that was reached before it.
 * @returns one advantage a turn; 0 for failed rollouts, and for all where nothing differs: [group][turns]
 */
export const subgoalAdvantages = (
  episodes: readonly SubgoalEpisode[],
  { gamma, stepWeight }: Pick<GigpoOptions, 'gamma' | 'stepWeight'>,
): number[][] =>
  gigpoAdvantages(
    episodes.map((episode) => ({
      reward: episode.reward,
      states: subgoalStates(episode),
      turnRewards: subgoalRewards(episode),
    })),
    { gamma, stepWeight, normalize: true },
  );
