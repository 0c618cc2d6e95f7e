import { seededOrder } from '../../env/tasks/seededOrder.js';

/**
 * Deals tasks to steps: each pass over the tasks is shuffled afresh from the seed and cut into steps of `perStep` different
 * tasks; what is left over at the end of a pass waits for the next shuffle. A pure function of its arguments, so a
 * resumed run needs no more than the number of its step.
 * @param step 1 for the first
 */
export function tasksOfStep(taskIds: readonly string[], perStep: number, step: number, seed: number): string[] {
  const dealt = tasksDealtInStep(taskIds.length, perStep);
  const stepsInPass = Math.floor(taskIds.length / dealt);
  const pass = Math.floor((step - 1) / stepsInPass);
  const start = ((step - 1) % stepsInPass) * dealt;
  return seededOrder(taskIds, `${seed} pass ${pass}`, (id) => id).slice(start, start + dealt);
}

/** Tasks of one step: no task twice, so at most all there are. */
export const tasksDealtInStep = (tasks: number, perStep: number) => Math.min(perStep, tasks);
