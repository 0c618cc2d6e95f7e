import { say } from '../../trajectory/said.js';
import type { Task, TaskSplit } from '../../trajectory/task.js';
import type { Trajectory } from '../../trajectory/trajectory.js';
import { meanOf } from '../algorithm/stepMetrics.js';
import { recordedEvaluation, type EvaluationPlace, type RecordedEvaluation } from '../recordedEvaluation.js';
import type { Arena, MessagePlayer, Player } from '../rollout/arena.js';
import { samplingOptions } from '../rollout/environmentArena.js';
import { learnedMasks } from '../rollout/nodes.js';
import type { Schedule } from '../rollout/playGroups.js';
import type { Settings } from '../run/settings.js';
import { searchTasks, type SearchOptions } from './search.js';

/** An evaluation in which each task is searched: what counts is the episode that the search answers with. */
export function evaluateBySearch(
  player: Player | MessagePlayer,
  arena: Arena,
  tasks: readonly Task[],
  split: TaskSplit,
  settings: Settings,
  options: Omit<SearchOptions, 'seed'>,
  place: Omit<EvaluationPlace, 'sandbox' | 'policyStep'>,
  schedule: Schedule,
): Promise<RecordedEvaluation> {
  const { search, width, depth, scorer } = options;
  const { policyStep } = player;
  return recordedEvaluation(
    tasks,
    split,
    settings,
    { ...place, sandbox: arena.sandbox, policyStep },
    schedule,
    async (chosen, kind, recording) => {
      const searched = await searchTasks(
        player,
        arena,
        chosen,
        kind,
        { ...options, seed: settings.seed },
        samplingOptions(settings, 'rollout'),
        recording,
      );
      return {
        answers: searched.map(({ chosen: answer }) => ({ ...answer, sample: 0 })),
        metrics: costOf(searched.map(({ played }) => played)),
        ...say`Searched (${search}, width ${width}, depth ${depth}, by ${scorer}).`,
      };
    },
  );
}

/** What the search took, a task: its episodes, and what was sampled in them, shared prefixes counted once. */
function costOf(played: readonly (readonly Trajectory[])[]): Record<string, number> {
  const sampled = (trajectory: Trajectory) =>
    learnedMasks(trajectory).reduce((sum, mask) => sum + mask.reduce((ones, bit) => ones + bit, 0), 0);
  return {
    'search/episodes': meanOf(played.map(({ length }) => length)),
    'search/sampled_tokens': meanOf(played.map((all) => all.reduce((sum, one) => sum + sampled(one), 0))),
  };
}
