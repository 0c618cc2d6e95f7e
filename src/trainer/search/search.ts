import type { Task } from '../../trajectory/task.js';
import type { Trajectory } from '../../trajectory/trajectory.js';
import type { Arena, EpisodePlan, MessagePlayer, Player, SamplingOptions } from '../rollout/arena.js';
import { branchPlans } from '../rollout/branchPlans.js';
import { searchPlans } from '../rollout/plans.js';
import { playGroups, type Schedule } from '../rollout/playGroups.js';
import { scorers, type ScorerName } from './scorers.js';
import { byScore, searchPolicies, type Candidate, type SearchName, type SearchSize } from './searchPolicies.js';

export interface SearchOptions extends SearchSize {
  readonly search: SearchName;
  readonly scorer: ScorerName;
  /** Who plays, in words. */
  readonly policy: string;
  readonly seed: number;
}

/** What was played of one task, in its order, and the episode that the search answers with. */
export interface SearchedTask {
  readonly played: readonly Trajectory[];
  readonly chosen: Trajectory;
}

/**
 * Searches each task for a good episode, all tasks round by round side by side. The scorer alone says what is good: the grades are
 * recorded and not looked at. Episodes in which the machine failed are not gone on from. `schedule.onTrajectory` is to record them.
 * @param kind what the episodes are recorded as
 */
export async function searchTasks(
  player: Player | MessagePlayer,
  arena: Arena,
  tasks: readonly Task[],
  kind: 'rollout' | 'evaluation',
  { search, scorer, width, depth, policy, seed }: SearchOptions,
  options: SamplingOptions,
  schedule: Schedule,
): Promise<SearchedTask[]> {
  const searched = tasks.map((task) => ({ task, played: [] as Trajectory[] }));
  for (let round = 0; ; round++) {
    const plans = searched.map(({ task, played }) => {
      const takenIds = new Set(played.map(({ id }) => id));
      let firstSample = played.length;
      return searchPolicies[search](candidates(played, scorer), round, { width, depth }).flatMap(
        ({ from, turn, count }): EpisodePlan[] => {
          const numbers = { seed, takenIds, firstSample };
          firstSample += count;
          const parent = played.find(({ id }) => id === from);
          return parent === undefined
            ? searchPlans(task, kind, player.policyStep, numbers.firstSample, count, seed)
            : branchPlans(parent, task, turn, count, policy, numbers);
        },
      );
    });
    const all = plans.flat();
    if (all.length === 0) break;
    const trajectories = await playGroups(player, arena, all, options, schedule);
    let next = 0;
    plans.forEach(({ length }, index) => searched[index]!.played.push(...trajectories.slice(next, (next += length))));
  }
  return searched.map(({ played }) => {
    const [best] = byScore(candidates(played, scorer));
    return { played, chosen: played.find(({ id }) => id === best?.id) ?? played[0]! };
  });
}

const candidates = (played: readonly Trajectory[], scorer: ScorerName): Candidate[] =>
  played
    .filter(({ infrastructureError }) => infrastructureError === null)
    .map((trajectory) => ({
      id: trajectory.id,
      origin: trajectory.origin ?? null,
      turns: trajectory.statistics.turns,
      score: scorers[scorer](trajectory),
    }));
