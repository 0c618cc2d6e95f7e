import type { Grade, RewardComponent } from '../../trajectory/grade.js';
import type { Task } from '../../trajectory/task.js';
import type { Trajectory } from '../../trajectory/trajectory.js';
import type { Settings } from '../run/settings.js';
import type { ShapingSettings } from '../run/shapingSettings.js';
import { lengthCost } from './lengthCost.js';
import { milestones } from './milestones.js';
import { toolUse } from './toolUse.js';

/**
 * The environment's grade with what the episode's way and a judge add to it: each part a component beside the others, kept with the
 * trajectory. Whether the task is resolved stays as it was. A reward that is not finite is a broken invariant, never a reward.
 */
export function shapeGrade(
  grade: Grade,
  trajectory: Pick<Trajectory, 'nodes' | 'patch' | 'stopReason' | 'statistics'>,
  task: Pick<Task, 'patch' | 'FAIL_TO_PASS'>,
  shaping: ShapingSettings | null,
  judged?: RewardComponent,
): Grade {
  const components: Record<string, RewardComponent> = { ...grade.components };
  let { reward } = grade;
  const add = (name: string, component: RewardComponent) => {
    components[name] = component;
    reward += component.score * component.weight;
  };
  if (judged) add('judge', judged);
  if (shaping && shaping.milestones > 0) add('milestones', milestones(trajectory, grade, task, shaping.milestones));
  if (shaping && shaping.toolUse > 0) add('toolUse', toolUse(trajectory, shaping));
  if (shaping && shaping.length !== 'none') {
    add('length', lengthCost(trajectory.statistics.sampledTokens, shaping.lengthTarget, reward, shaping));
  }
  if (!Number.isFinite(reward)) throw new Error(`internal: the shaped reward is ${reward}`);
  return { ...grade, reward, components };
}

/** How a run's settings shape the reward, with the target of the length in tokens; null where they do not. */
export function shapingOf({
  shaping,
  maxTurns,
  maxTokensPerTurn,
}: Pick<Settings, 'shaping' | 'maxTurns' | 'maxTokensPerTurn'>): ShapingSettings | null {
  if (shaping.milestones === 0 && shaping.toolUse === 0 && shaping.length === 'none') return null;
  return { ...shaping, lengthTarget: shaping.lengthTarget || Math.floor((maxTurns * maxTokensPerTurn) / 2) };
}
