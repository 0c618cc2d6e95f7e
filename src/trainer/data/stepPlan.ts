import { seededOrder } from '../../env/tasks/seededOrder.js';
import type { ChosenTask, StepEvent } from '../run/runRecord.js';
import type { Settings } from '../run/settings.js';
import { rankTasks, type GroupOutcome } from './adaptiveCurriculum.js';
import { tasksDealtInStep, tasksOfStep } from './curriculum.js';
import { temperatureAt, turnsAt } from './schedules.js';

/** What a step plays and how. */
export interface StepPlan {
  readonly step: number;
  readonly temperature: number;
  readonly maxTurns: number;
  readonly tasks: readonly ChosenTask[];
  /** The other tasks in the order in which dynamic sampling takes them, should groups of the step be silent. */
  readonly reserves: readonly ChosenTask[];
}

/**
 * Plans a step from the record of the steps before it: a pure function, so a resumed run plans the same.
 * @param history step events; those of this step and later ones (of a run that was killed) are not looked at
 */
export function planStep(
  taskIds: readonly string[],
  history: readonly StepEvent[],
  settings: Settings,
  step: number,
): StepPlan {
  const dealt = tasksDealtInStep(taskIds.length, settings.tasksPerStep);
  const order = settings.curriculum.order === 'uniform' ? uniform : adaptive;
  const all = order(taskIds, history, settings, step);
  return {
    step,
    temperature: temperatureAt(settings, step),
    maxTurns: turnsAt(settings, step),
    tasks: all.slice(0, dealt),
    reserves: all.slice(dealt),
  };
}

type Order = (
  taskIds: readonly string[],
  history: readonly StepEvent[],
  settings: Settings,
  step: number,
) => ChosenTask[];

const uniform: Order = (taskIds, _, { tasksPerStep, seed }, step) => {
  const turn = tasksOfStep(taskIds, tasksPerStep, step, seed);
  const others = taskIds.filter((id) => !turn.includes(id));
  return [...turn, ...seededOrder(others, `${seed} reserves ${step}`, (id) => id)].map((taskId) => ({
    taskId,
    why: 'its turn',
    success: null,
  }));
};

const adaptive: Order = (taskIds, history, { curriculum, seed }, step) =>
  rankTasks(taskIds, outcomesOf(history, step), step, curriculum, seed).map(({ taskId, why, success }) => ({
    taskId,
    why,
    success,
  }));

const outcomesOf = (history: readonly StepEvent[], before: number): GroupOutcome[] =>
  history
    .filter(({ step }) => step < before)
    .flatMap(({ step, groups }) =>
      groups.map(({ taskId, played = 0, resolved = 0 }) => ({ step, taskId, played, resolved })),
    );
