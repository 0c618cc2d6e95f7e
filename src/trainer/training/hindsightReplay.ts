import type { Environment } from '../../env/environment.js';
import { gradePatch } from '../../env/grade.js';
import { narrowTask } from '../../env/tasks/narrowTask.js';
import { toolSchemas } from '../../env/tools/tools.js';
import type { Grade } from '../../trajectory/grade.js';
import type { Task } from '../../trajectory/task.js';
import type { Trajectory } from '../../trajectory/trajectory.js';
import { goalReached, relabelled, relabelledId } from '../data/hindsight.js';
import type { Settings } from '../run/settings.js';
import type { TextCodec } from '../text/textCodec.js';

/** What hindsight found among a step's failures. */
export interface HindsightReplay {
  readonly trajectories: readonly Trajectory[];
  /** Those that looked as if they had solved a smaller task, and failed it when they were graded by it. */
  readonly refuted: number;
}

export interface HindsightWays {
  readonly codec: TextCodec;
  readonly trainTasks: ReadonlyMap<string, Task>;
  /** Grades a rollout's patch by a smaller task. */
  readonly grade: (task: Task, rollout: Trajectory) => Promise<Grade>;
  /** What an interrupted step has recorded already. */
  readonly recorded: (id: string) => Promise<Trajectory | null>;
  readonly record: (trajectory: Trajectory) => void;
}

/** Relabels the failures that reached part of their goal (data/hindsight.ts), each proved by grading, and records them. */
export async function relabelFailures(
  rollouts: readonly Trajectory[],
  { codec, trainTasks, grade, recorded, record }: HindsightWays,
): Promise<HindsightReplay> {
  const trajectories: Trajectory[] = [];
  let refuted = 0;
  for (const rollout of rollouts) {
    const task = trainTasks.get(rollout.taskId);
    const goal = task === undefined ? null : goalReached(rollout, task);
    if (task === undefined || goal === null) continue;
    const known = await recorded(relabelledId(rollout));
    if (known !== null) {
      trajectories.push(known);
      continue;
    }
    const smaller = narrowTask(task, goal);
    const proof = await grade(smaller, rollout);
    if (!proof.resolved) {
      refuted += 1;
      continue;
    }
    const found = relabelled(rollout, smaller, proof, codec, toolSchemas);
    record(found);
    trajectories.push(found);
  }
  return { trajectories, refuted };
}

/** Grades as the run's rollouts are graded, but for the format of their calls, which the smaller task does not change. */
export const gradedBy =
  (environment: Environment, settings: Pick<Settings, 'reward' | 'testSeconds'>, signal: AbortSignal) =>
  (task: Task, { patch }: Trajectory): Promise<Grade> =>
    gradePatch(environment, task, patch, {
      statistics: null,
      weights: settings.reward,
      timeoutMs: settings.testSeconds * 1000,
      signal,
    });
