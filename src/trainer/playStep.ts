import type { Task } from '../trajectory/task.js';
import type { Trajectory } from '../trajectory/trajectory.js';
import { informativeGroups } from './algorithm/dynamicSampling.js';
import { choosePivots } from './data/pivots.js';
import { temperatureOfSample, toolEpsilonAt } from './data/schedules.js';
import type { StepPlan } from './data/stepPlan.js';
import { shapedReward } from './lessons.js';
import type { EpisodePlan } from './rollout/arena.js';
import { branchPlans } from './rollout/branchPlans.js';
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
 * Plays the groups of a step, with tree rollouts also what leaves their pivots. With dynamic sampling (DAPO, arXiv 2503.14476, section 3.2) each silent group is made up for by
 * a new one, of the plan's reserves and then of its tasks again, in at most `algorithm.dynamicSampling` rounds more.
 * @param isPolicyGradient whether the step learns by the policy gradient; else it plays each group once and no branches
 * @returns all groups that were played, the silent ones too
 */
export async function playStep(
  plan: StepPlan,
  tasks: ReadonlyMap<string, Task>,
  settings: Settings,
  isPolicyGradient: boolean,
  { onRound, play }: Rounds,
): Promise<PlayedGroup[]> {
  const { groupSize, seed, algorithm, exploration } = settings;
  const branching = isPolicyGradient ? algorithm : { ...algorithm, pivots: 0 };
  const toolEpsilon = toolEpsilonAt(settings, plan.step);
  const explored = toolEpsilon === 0 ? {} : { toolEpsilon };
  const width = groupSize + branching.pivots * branching.continuations;
  const queue = [...plan.tasks, ...plan.reserves];
  const groupsBefore = new Map<string, number>();
  const played: PlayedGroup[] = [];
  let next = 0;
  let missing = plan.tasks.length;
  for (let round = 0; missing > 0 && round <= (isPolicyGradient ? algorithm.dynamicSampling : 0); round++) {
    const chosen = Array.from({ length: missing }, () => queue[next++ % queue.length]);
    onRound(round, round === 0 ? chosen : chosen.map((task) => ({ ...task, why: 'in place of a silent group' })));
    const plans = chosen.flatMap(({ taskId }) => {
      const before = groupsBefore.get(taskId) ?? 0;
      groupsBefore.set(taskId, before + 1);
      return groupPlans(tasks.get(taskId)!, plan.step, groupSize, seed, before, width);
    });
    const spread = exploration.temperatureSpread;
    const trajectories = await play(
      plans.map((one) => ({
        ...one,
        ...explored,
        temperature: temperatureOfSample(plan.temperature, spread, one.sample % width, groupSize),
      })),
    );
    const groups = chosen.map(({ taskId }, index) => ({
      task: tasks.get(taskId)!,
      trajectories: trajectories.slice(index * groupSize, (index + 1) * groupSize),
    }));
    played.push(...(await withBranches(groups, plan.step, seed, branching, explored, play)));
    const rewards = played.map((group) => group.trajectories.map((one) => shapedReward(one, settings)));
    missing = plan.tasks.length - informativeGroups(rewards).length;
  }
  return played;
}

/** The groups with what was played on from their pivots. */
async function withBranches(
  groups: readonly { readonly task: Task; readonly trajectories: readonly Trajectory[] }[],
  step: number,
  seed: number,
  branching: Settings['algorithm'],
  explored: Pick<EpisodePlan, 'toolEpsilon'>,
  play: Rounds['play'],
): Promise<PlayedGroup[]> {
  const plans = groups.map(({ task, trajectories }) =>
    choosePivots(trajectories, branching).flatMap(({ parent, turn }, index) => {
      const firstSample = trajectories[0]!.sample + trajectories.length + index * branching.continuations;
      const numbers = { seed, takenIds: new Set<string>(), firstSample, label: 'pivot-' };
      return branchPlans(parent, task, turn, branching.continuations, `the policy of step ${step}`, numbers).map(
        // What it shares was sampled so, and so is what it is held against.
        (plan): EpisodePlan => ({ ...plan, ...explored, temperature: parent.temperature }),
      );
    }),
  );
  const all = plans.flat();
  const branches = all.length === 0 ? [] : await play(all);
  let next = 0;
  return groups.map(({ task, trajectories }, index) => ({
    taskId: task.instance_id,
    trajectories: [...trajectories, ...branches.slice(next, (next += plans[index].length))],
  }));
}
