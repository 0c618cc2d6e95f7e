import type { Trajectory } from '../../trajectory/trajectory.js';
import type { EpisodePlan, MessagePlayer, Player } from '../rollout/arena.js';
import type { RunEvent } from '../run/runRecord.js';
import type { Settings } from '../run/settings.js';
import { attemptToRemember, lessonsFor, type LessonEvent } from './lessons.js';
import { writeLesson } from './writeLesson.js';

/** The plans of a step with what their prompts tell of earlier attempts; a group is told the same, a branch what its parent was. */
export function withMemory(
  plans: readonly EpisodePlan[],
  events: readonly RunEvent[],
  { memory }: Pick<Settings, 'memory'>,
  step: number,
): EpisodePlan[] {
  return plans.map((plan) => {
    const lessons = lessonsFor(events, plan.task.instance_id, step, memory.lessons);
    return lessons.length === 0 || plan.prefix !== undefined ? plan : { ...plan, lessons };
  });
}

/** What a step's failed attempts teach: one lesson a task, of its best failure. */
export async function lessonsOfStep(
  player: Player | MessagePlayer,
  groups: readonly { readonly taskId: string; readonly trajectories: readonly Trajectory[] }[],
  { memory, temperature }: Pick<Settings, 'memory' | 'temperature'>,
  step: number,
  signal: AbortSignal,
): Promise<Omit<LessonEvent, 'at'>[]> {
  if (memory.lessons === 0) return [];
  const byTask = new Map<string, Trajectory[]>();
  for (const { taskId, trajectories } of groups) byTask.set(taskId, [...(byTask.get(taskId) ?? []), ...trajectories]);
  const found: Omit<LessonEvent, 'at'>[] = [];
  for (const [taskId, trajectories] of byTask) {
    const attempt = attemptToRemember(trajectories);
    if (attempt === null) continue;
    const text = await writeLesson(player, attempt, memory.writer, temperature, signal);
    found.push({ type: 'lesson', step, taskId, trajectoryId: attempt.id, text });
  }
  return found;
}
