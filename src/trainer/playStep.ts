import type { Task } from '../trajectory/task.js';
import type { Trajectory } from '../trajectory/trajectory.js';
import { informativeGroups } from './algorithm/dynamicSampling.js';
import { temperatureOfSample } from './data/schedules.js';
import type { StepPlan } from './data/stepPlan.js';
import { shapedReward } from './lessons.js';
import type { EpisodePlan } from './rollout/arena.js';
import { groupPlans } from './rollout/plans.js';
import type { ChosenTask } from './run/runRecord.js';
import type { Settings } from './run/settings.js';

/** The rollouts of one task that were played together. */
export interface PlayedGroup {
  readonly taskId: string;
  readonly trajectories: readonly Trajectory[];
}

/** How the groups of one round are played, and what is told of them before. */
export interface Rounds {
  readonly onRound: (round: number, tasks: readonly ChosenTask[]) => void;
  readonly play: (plans: readonly EpisodePlan[]) => Promise<readonly Trajectory[]>;
}

/**
 * Plays the groups of a step. With dynamic sampling (DAPO, arXiv 2503.14476, section 3.2) each silent group is made up for by
 * a new one, of the plan's reserves and then of its tasks again, in at most `algorithm.dynamicSampling` rounds more.
 * @returns all groups that were played, the silent ones too
 */
export async function playStep(
  plan: StepPlan,
  tasks: ReadonlyMap<string, Task>,
  settings: Settings,
  isDynamic: boolean,
  { onRound, play }: Rounds,
): Promise<PlayedGroup[]> {
  const { groupSize, seed, algorithm, exploration } = settings;
  const queue = [...plan.tasks, ...plan.reserves];
  const groupsBefore = new Map<string, number>();
  const played: PlayedGroup[] = [];
  let next = 0;
  let missing = plan.tasks.length;
  for (let round = 0; missing > 0 && round <= (isDynamic ? algorithm.dynamicSampling : 0); round++) {
    const chosen = Array.from({ length: missing }, () => queue[next++ % queue.length]);
    onRound(round, round === 0 ? chosen : chosen.map((task) => ({ ...task, why: 'in place of a silent group' })));
    const plans = chosen.flatMap(({ taskId }) => {
      const before = groupsBefore.get(taskId) ?? 0;
      groupsBefore.set(taskId, before + 1);
      return groupPlans(tasks.get(taskId)!, plan.step, groupSize, seed, before);
    });
    const spread = exploration.temperatureSpread;
    const trajectories = await play(
      plans.map((one) => ({
        ...one,
        temperature: temperatureOfSample(plan.temperature, spread, one.sample, groupSize),
      })),
    );
    chosen.forEach(({ taskId }, index) =>
      played.push({ taskId, trajectories: trajectories.slice(index * groupSize, (index + 1) * groupSize) }),
    );
    const rewards = played.map((group) => group.trajectories.map((one) => shapedReward(one, settings)));
    missing = plan.tasks.length - informativeGroups(rewards).length;
  }
  return played;
}
