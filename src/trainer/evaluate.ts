import type { Task, TaskSplit } from '../trajectory/task.js';
import type { Trajectory } from '../trajectory/trajectory.js';
import { seededOrder } from '../env/tasks/seededOrder.js';
import { meanOf } from './algorithm/stepMetrics.js';
import { wilsonInterval } from './algorithm/wilson.js';
import { evaluationMetrics, outcomesByTask, passRates } from './evaluation/evaluationMetrics.js';
import type { Arena, MessagePlayer, Player } from './rollout/arena.js';
import { samplingOptions } from './rollout/environmentArena.js';
import { evaluationPlans } from './rollout/plans.js';
import { playGroups, type Schedule } from './rollout/playGroups.js';
import type { Evaluation } from './run/runRecord.js';
import type { Settings } from './run/settings.js';

/** The tasks that an evaluation plays: all of the split, or as many as the settings say, chosen by the seed. */
export function evaluationTasks(tasks: readonly Task[], split: TaskSplit, settings: Settings): Task[] {
  const ofSplit = tasks.filter((task) => task.whetstone.split === split);
  const count = settings.evaluationTasks === 0 ? ofSplit.length : settings.evaluationTasks;
  return seededOrder(ofSplit, `${settings.seed} evaluation`, (task) => task.instance_id).slice(0, count);
}

/**
 * Plays the tasks of a split and sums them up. Episodes in which the machine failed do not count.
 * @param recorded trajectories that were played before the run was interrupted; they are not played again
 */
export async function evaluate(
  player: Player | MessagePlayer,
  arena: Arena,
  tasks: readonly Task[],
  split: TaskSplit,
  settings: Settings,
  schedule: Schedule,
  recorded: (id: string) => Promise<Trajectory | null> = () => Promise.resolve(null),
): Promise<Evaluation> {
  const chosen = evaluationTasks(tasks, split, settings);
  const plans = evaluationPlans(chosen, player.policyStep, settings.evaluationSamples, settings.seed);
  const options = samplingOptions(settings, 'evaluation');
  const trajectories = await playGroups(player, arena, plans, options, schedule, recorded);
  return summarize(trajectories, player.policyStep, split, chosen);
}

/** What the episodes of an evaluation say; `sample` counts those of a task. */
export function summarize(
  trajectories: readonly Trajectory[],
  step: number,
  split: TaskSplit,
  tasks: readonly Task[],
): Evaluation {
  const outcomes = outcomesByTask(trajectories);
  const grades = trajectories.flatMap(({ grade }) => (grade === null ? [] : [grade]));
  const successes = grades.filter(({ resolved }) => resolved).length;
  const calls = trajectories.map(({ statistics }) => {
    const { validCalls, malformedCalls, unknownTools, invalidArguments } = statistics;
    return { valid: validCalls, all: validCalls + malformedCalls + unknownTools + invalidArguments };
  });
  const allCalls = calls.reduce((sum, { all }) => sum + all, 0);
  return {
    step,
    split,
    success: {
      rate: grades.length === 0 ? 0 : successes / grades.length,
      interval: wilsonInterval(successes, grades.length),
      n: grades.length,
    },
    meanReward: meanOf(grades.map(({ reward }) => reward)),
    validCallRate: allCalls === 0 ? 0 : calls.reduce((sum, { valid }) => sum + valid, 0) / allCalls,
    passAtK: passRates(outcomes),
    metrics: evaluationMetrics(trajectories, new Map(tasks.map((task) => [task.instance_id, task]))),
    outcomes,
    trajectoryIds: trajectories.map(({ id }) => id),
  };
}
