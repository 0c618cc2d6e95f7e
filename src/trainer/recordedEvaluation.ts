import { cancelled } from '../trajectory/errors.js';
import { say, saidOf, type Said } from '../trajectory/said.js';
import type { Task, TaskSplit } from '../trajectory/task.js';
import type { Trajectory } from '../trajectory/trajectory.js';
import { evaluationTasks, summarize } from './evaluate.js';
import type { Arena, MessagePlayer, Player } from './rollout/arena.js';
import { samplingOptions } from './rollout/environmentArena.js';
import { evaluationPlans } from './rollout/plans.js';
import { playGroups, type Schedule } from './rollout/playGroups.js';
import { createRun, settleTasks } from './run/createRun.js';
import { newRunId } from './run/runDirectory.js';
import type { Evaluation, RunConfig } from './run/runRecord.js';
import { RunWriter } from './run/runWriter.js';
import type { Settings } from './run/settings.js';

/** Where an evaluation is recorded, and what of. */
export interface EvaluationPlace {
  readonly stateFolder: string;
  readonly repoRoot: string;
  readonly headCommit: string;
  readonly sandbox: string;
  /** Optimizer steps behind the weights that play. */
  readonly policyStep: number;
}

/** How the tasks are played: what counts of each, what that took, and what it was, in words. */
export interface PlayedTasks extends Said {
  readonly answers: readonly Trajectory[];
  readonly metrics: Readonly<Record<string, number>>;
}

export type RecordedEvaluation = Evaluation & { readonly run: string };

/**
 * An evaluation whose episodes are recorded as a run of its own, in which they can be looked at like any other's.
 * @param play plays the tasks; where it plays a task more often than it counts, those of train tasks as rollouts, so that they can be
 * learned from, those of held-out ones as evaluations, which never are
 */
export async function recordedEvaluation(
  tasks: readonly Task[],
  split: TaskSplit,
  settings: Settings,
  { stateFolder, repoRoot, headCommit, sandbox, policyStep }: EvaluationPlace,
  schedule: Schedule,
  play: (
    tasks: readonly Task[],
    kind: 'rollout' | 'evaluation',
    schedule: Schedule,
    writer: RunWriter,
  ) => Promise<PlayedTasks>,
): Promise<RecordedEvaluation> {
  const chosen = evaluationTasks(tasks, split, settings);
  const config: RunConfig = {
    version: 1,
    runId: newRunId(),
    createdAt: new Date().toISOString(),
    repoRoot,
    headCommit,
    settings: { ...settings, steps: 0, stages: [] },
    taskIds: { train: [], heldout: [] },
    sandbox,
  };
  const paths = await createRun(stateFolder, config);
  await settleTasks(paths, config, chosen);
  const writer = new RunWriter(paths);
  const recording: Schedule = {
    ...schedule,
    onTrajectory: (trajectory) => {
      writer.trajectory(trajectory);
      schedule.onTrajectory(trajectory);
    },
  };
  try {
    writer.event({ type: 'started', pid: process.pid, resumedFromStep: null });
    const kind = split === 'heldout' ? 'evaluation' : 'rollout';
    const { answers, metrics, message, phrase } = await play(chosen, kind, recording, writer);
    const summary = summarize(answers, policyStep, split, chosen);
    const evaluation = { ...summary, metrics: { ...summary.metrics, ...metrics } };
    writer.event({ type: 'evaluation', ...evaluation });
    writer.event({ type: 'finished', status: 'completed', message, phrase });
    return { ...evaluation, run: config.runId };
  } catch (error) {
    const isStopped = schedule.signal.aborted;
    const said = isStopped ? say`Stopped.` : saidOf(error as Error);
    writer.event({ type: 'finished', status: isStopped ? 'stopped' : 'failed', ...said });
    throw isStopped ? cancelled() : error;
  } finally {
    writer.close();
  }
}

/** An evaluation that plays and counts what `evaluate` does, recorded. */
export function evaluateRecorded(
  player: Player | MessagePlayer,
  arena: Arena,
  tasks: readonly Task[],
  split: TaskSplit,
  settings: Settings,
  policy: string,
  place: Omit<EvaluationPlace, 'sandbox' | 'policyStep'>,
  schedule: Schedule,
): Promise<RecordedEvaluation> {
  const { policyStep } = player;
  const whole = { ...place, sandbox: arena.sandbox, policyStep };
  return recordedEvaluation(tasks, split, settings, whole, schedule, async (chosen, _kind, recording) => {
    const plans = evaluationPlans(chosen, policyStep, settings.evaluationSamples, settings.seed);
    const answers = await playGroups(player, arena, plans, samplingOptions(settings, 'evaluation'), recording);
    return { answers, metrics: {}, ...say`Played by ${policy}.` };
  });
}
