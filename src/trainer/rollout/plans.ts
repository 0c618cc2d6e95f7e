import type { Task } from '../../trajectory/task.js';
import type { EpisodePlan } from './arena.js';
import { deriveSeed } from './seeds.js';

const numbered = (word: string, step: number) => `${word}-${String(step).padStart(6, '0')}`;

/**
 * The rollouts of one group of a training step.
 * @param groupsBefore groups of the same task that the step has played already
 * @param width numbers that each of them takes, for its branches too
 */
export function groupPlans(
  task: Task,
  step: number,
  groupSize: number,
  runSeed: number,
  groupsBefore = 0,
  width = groupSize,
): EpisodePlan[] {
  const first = groupsBefore * width;
  return plans('rollout', numbered('step', step), [task], step, first + groupSize, runSeed).slice(first);
}

/** One rollout of each task by the starting policy, for the failures among them. */
export function negativePlans(tasks: readonly Task[], runSeed: number): EpisodePlan[] {
  return plans('rollout', numbered('step', 0), tasks, 0, 1, runSeed);
}

/** The episodes of an evaluation of the weights after `step` steps. */
export function evaluationPlans(tasks: readonly Task[], step: number, samples: number, runSeed: number): EpisodePlan[] {
  return plans('evaluation', numbered('eval', step), tasks, step, samples, runSeed);
}

/** Episodes of a search that are played from the prompt on, numbered from `first`. */
export function searchPlans(
  task: Task,
  kind: 'rollout' | 'evaluation',
  step: number,
  first: number,
  count: number,
  runSeed: number,
): EpisodePlan[] {
  return plans(kind, numbered('search', step), [task], step, first + count, runSeed).slice(first);
}

/** The expert's episodes of the warm start, one a task. */
export function demonstrationPlans(tasks: readonly Task[]): EpisodePlan[] {
  return plans('demonstration', 'demonstration', tasks, 0, 1, 0);
}

function plans(
  kind: EpisodePlan['kind'],
  prefix: string,
  tasks: readonly Task[],
  step: number,
  samples: number,
  runSeed: number,
): EpisodePlan[] {
  return tasks.flatMap((task) =>
    Array.from({ length: samples }, (_, sample) => ({
      id: `${prefix}/${task.instance_id}/${sample}`,
      kind,
      step,
      task,
      sample,
      seed: deriveSeed(runSeed, kind, step, task.instance_id, sample),
    })),
  );
}
