import { cancelled } from '../trajectory/errors.js';
import type { Task, TaskSplit } from '../trajectory/task.js';
import type { Trajectory } from '../trajectory/trajectory.js';
import { evaluationTasks, summarize } from './evaluate.js';
import type { Schedule } from './rollout/playGroups.js';
import { createRun, settleTasks } from './run/createRun.js';
import { newRunId } from './run/runDirectory.js';
import type { Evaluation, RunConfig } from './run/runRecord.js';
import { RunWriter } from './run/runWriter.js';
import type { Settings } from './run/settings.js';

/** Where an evaluation that plays more than it counts is recorded, and what of. */
export interface EvaluationPlace {
  readonly stateFolder: string;
  readonly repoRoot: string;
  readonly headCommit: string;
  readonly sandbox: string;
  /** Optimizer steps behind the weights that play. */
  readonly policyStep: number;
}

/** How the tasks are played: what counts of each, what that took, and what it was, in words. */
export interface PlayedTasks {
  readonly answers: readonly Trajectory[];
  readonly metrics: Readonly<Record<string, number>>;
  readonly message: string;
}

export type RecordedEvaluation = Evaluation & { readonly run: string };

/**
 * An evaluation that plays its tasks more than once and counts one episode of each. All that was played is recorded as a run of its
 * own, in which it can be looked at like any other; of train tasks as rollouts, so that it can be learned from, of held-out ones
 * as evaluations, which never are.
 * @param play plays the tasks as episodes of the given kind
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
    const { answers, metrics, message } = await play(chosen, kind, recording, writer);
    const counted = answers.map((answer) => ({ ...answer, sample: 0 }));
    const summary = summarize(counted, policyStep, split, chosen);
    const evaluation = { ...summary, metrics: { ...summary.metrics, ...metrics } };
    writer.event({ type: 'evaluation', ...evaluation });
    writer.event({ type: 'finished', status: 'completed', message });
    return { ...evaluation, run: config.runId };
  } catch (error) {
    const isStopped = schedule.signal.aborted;
    const message = isStopped ? 'Stopped.' : (error as Error).message;
    writer.event({ type: 'finished', status: isStopped ? 'stopped' : 'failed', message });
    throw isStopped ? cancelled() : error;
  } finally {
    writer.close();
  }
}
