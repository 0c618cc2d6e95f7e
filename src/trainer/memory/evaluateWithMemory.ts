import { say } from '../../trajectory/said.js';
import type { Task, TaskSplit } from '../../trajectory/task.js';
import type { Trajectory } from '../../trajectory/trajectory.js';
import { recordedEvaluation, type EvaluationPlace, type RecordedEvaluation } from '../recordedEvaluation.js';
import type { Arena, MessagePlayer, Player } from '../rollout/arena.js';
import { samplingOptions } from '../rollout/environmentArena.js';
import { searchPlans } from '../rollout/plans.js';
import { playGroups, type Schedule } from '../rollout/playGroups.js';
import type { Settings } from '../run/settings.js';
import { scorers } from '../search/scorers.js';
import { newestDistinct } from './lessons.js';
import { writeLesson } from './writeLesson.js';

/** Lessons that an attempt is shown where the settings leave memory out. */
const shownLessons = 3;

/**
 * An evaluation in which a task is tried again, up to `attempts` times, until its policy saw all tests pass behind its last change; the
 * next attempt is shown what the failed ones taught (Reflexion, arXiv 2303.11366). What counts is the last attempt of each task.
 * Whether to try again is decided by what the policy saw, not by the grade.
 */
export function evaluateWithMemory(
  player: Player | MessagePlayer,
  arena: Arena,
  tasks: readonly Task[],
  split: TaskSplit,
  settings: Settings,
  attempts: number,
  place: Omit<EvaluationPlace, 'sandbox' | 'policyStep'>,
  schedule: Schedule,
): Promise<RecordedEvaluation> {
  const { memory, seed } = settings;
  const { policyStep } = player;
  const most = memory.lessons === 0 ? shownLessons : memory.lessons;
  return recordedEvaluation(
    tasks,
    split,
    settings,
    { ...place, sandbox: arena.sandbox, policyStep },
    schedule,
    async (chosen, kind, recording, writer) => {
      const tried = chosen.map((task) => ({ task, lessons: [] as string[], played: [] as Trajectory[] }));
      const metrics: Record<string, number> = {};
      // Attempts of the same task must differ, so they are sampled as rollouts are.
      const options = samplingOptions(settings, 'rollout');
      for (let attempt = 0; attempt < attempts; attempt++) {
        const open = tried.filter(({ played }) => played.length === 0 || !looksSolved(played.at(-1)!));
        if (open.length === 0) break;
        const plans = open.flatMap(({ task, lessons }) =>
          searchPlans(task, kind, policyStep, attempt, 1, seed).map((plan) => ({
            ...plan,
            lessons: newestDistinct(lessons, most),
          })),
        );
        const played = await playGroups(player, arena, plans, options, recording);
        for (const [index, trajectory] of played.entries()) {
          const one = open[index]!;
          one.played.push(trajectory);
          const isLast = attempt === attempts - 1;
          if (isLast || looksSolved(trajectory) || trajectory.infrastructureError !== null) continue;
          const text = await writeLesson(player, trajectory, memory.writer, settings.temperature, schedule.signal);
          one.lessons.push(text);
          const { instance_id: taskId } = one.task;
          writer.event({ type: 'lesson', step: policyStep, taskId, trajectoryId: trajectory.id, text });
        }
        const solved = tried.filter(({ played: all }) => all.at(-1)!.grade?.resolved).length;
        metrics[`attempts/success_${attempt + 1}`] = chosen.length === 0 ? 0 : solved / chosen.length;
      }
      return {
        answers: tried.map(({ played }) => ({ ...played.at(-1)!, sample: 0 })),
        metrics,
        ...say`Tried up to ${attempts} times, with lessons of the attempts before.`,
      };
    },
  );
}

/** The policy's own tests all passed behind its last change. */
const looksSolved = (trajectory: Trajectory) => scorers.tests(trajectory) === 1;
