import { readTasks } from '../../env/tasks/taskStore.js';
import { createRun, settleTasks } from '../../trainer/run/createRun.js';
import { newRunId } from '../../trainer/run/runDirectory.js';
import type { RunConfig } from '../../trainer/run/runRecord.js';
import { RunWriter } from '../../trainer/run/runWriter.js';
import { settingsSchema } from '../../trainer/run/settings.js';
import { WhetstoneError } from '../../trajectory/errors.js';
import type { Task } from '../../trajectory/task.js';
import { withoutTokens } from '../../trajectory/withoutTokens.js';
import type { ForeignCurves } from '../readers/curves.js';
import type { ReadTrajectory } from '../readers/readTrajectory.js';
import type { ForeignFile } from '../readers/readTrajectories.js';

export interface ImportOptions {
  readonly repoRoot: string;
  readonly stateFolder: string;
  readonly headCommit: string;
  /**
   * Folder of the model whose tokenizer made the ids, so that they can be shown; null where it is not there: the messages are
   * then kept without tokens.
   */
  readonly model: string | null;
  readonly now: Date;
}

export interface ImportedRun {
  readonly runId: string;
  readonly trajectories: number;
  readonly steps: number;
  /** Trajectories whose tokens were left out for want of a tokenizer. */
  readonly withoutTokens: number;
}

/**
 * Records trajectories of other systems, and the curves of their training, as a run that is over, which everything that reads runs
 * can show. Where several files tell of one metric of a step, the last of them counts.
 */
export async function importRun(
  files: readonly ForeignFile[],
  curves: readonly ForeignCurves[],
  options: ImportOptions,
): Promise<ImportedRun> {
  const read = distinctIds(files.flatMap(({ trajectories }) => trajectories));
  const measured = curves.flatMap((curve) => curve.steps);
  const played = rolloutsOf(read).map(({ trajectory }) => trajectory.step);
  const steps = [...new Set([...played, ...measured.map(({ step }) => step)])].sort((a, b) => a - b);
  const config: RunConfig = {
    version: 1,
    runId: newRunId(options.now),
    createdAt: options.now.toISOString(),
    repoRoot: options.repoRoot,
    headCommit: options.headCommit,
    settings: settingsSchema.parse({ steps: steps.at(-1) ?? 0, ...(options.model && { model: options.model }) }),
    taskIds: { train: [], heldout: [] },
    sandbox: 'elsewhere',
  };
  const paths = await createRun(options.stateFolder, config);
  await settleTasks(paths, config, await tasksOf(read, options.stateFolder));
  const writer = new RunWriter(paths);
  try {
    writer.event({ type: 'started', pid: process.pid, resumedFromStep: null });
    for (const { trajectory, learned, hasTokens } of read) {
      const keepsTokens = hasTokens && options.model !== null;
      writer.trajectory(keepsTokens ? trajectory : withoutTokens(trajectory));
      if (keepsTokens && learned) writer.learned({ trajectoryId: trajectory.id, step: trajectory.step, ...learned });
    }
    for (const step of steps) {
      const { metrics, groups } = stepOf(rolloutsOf(read).filter((one) => one.trajectory.step === step));
      const noted = measured.filter((one) => one.step === step).map((one) => one.metrics);
      writer.event({ type: 'step', step, metrics: Object.assign({}, metrics, ...noted) as typeof metrics, groups });
    }
    writer.event({ type: 'finished', status: 'completed', message: `Imported: ${formatsOf([...files, ...curves])}.` });
  } finally {
    writer.close();
  }
  return {
    runId: config.runId,
    trajectories: read.length,
    steps: steps.length,
    withoutTokens: options.model === null ? read.filter(({ hasTokens }) => hasTokens).length : 0,
  };
}

const formatsOf = (files: readonly { readonly format: string }[]) =>
  [...new Set(files.map(({ format }) => format))].join(', ');

const rolloutsOf = (read: readonly ReadTrajectory[]) => read.filter(({ trajectory }) => trajectory.kind === 'rollout');

/** Several files may hold trajectories of one task: those of a later one are numbered on. */
function distinctIds(read: readonly ReadTrajectory[]): ReadTrajectory[] {
  const seen = new Set<string>();
  return read.map((one) => {
    let { trajectory } = one;
    for (let sample = trajectory.sample; seen.has(trajectory.id);) {
      sample += 1;
      trajectory = { ...trajectory, sample, id: trajectory.id.replace(/[^/]*$/, String(sample)) };
    }
    seen.add(trajectory.id);
    return { ...one, trajectory };
  });
}

/** Those of this repository's tasks that were played: with them a trajectory can be replayed. */
async function tasksOf(read: readonly ReadTrajectory[], stateFolder: string): Promise<Task[]> {
  const played = new Set(read.map(({ trajectory }) => trajectory.taskId));
  const stored = await readTasks(stateFolder).catch((error: unknown) => {
    if (error instanceof WhetstoneError && error.kind === 'bad-input') return [];
    throw error;
  });
  return stored.filter(({ instance_id }) => played.has(instance_id));
}

/** What can be told of a step from its rollouts: metrics by the names that our own steps have, and groups by task. */
function stepOf(rollouts: readonly ReadTrajectory[]) {
  const graded = rollouts.flatMap(({ trajectory }) => (trajectory.grade === null ? [] : [trajectory.grade]));
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const metrics: Record<string, number> =
    graded.length === 0
      ? {}
      : {
          reward: mean(graded.map(({ reward }) => reward)),
          success: mean(graded.map(({ resolved }) => (resolved ? 1 : 0))),
        };
  const tasks = [...new Set(rollouts.map(({ trajectory }) => trajectory.taskId))];
  const groups = tasks.flatMap((taskId) => {
    const group = rollouts.filter(({ trajectory }) => trajectory.taskId === taskId);
    const advantages = group.map(meanAdvantage);
    // A group without advantages was never learned from, as far as the file says.
    if (advantages.some((advantage) => advantage === null)) return [];
    return [
      {
        taskId,
        trajectoryIds: group.map(({ trajectory }) => trajectory.id),
        advantages: advantages.map((advantage) => advantage ?? 0),
      },
    ];
  });
  return { metrics, groups };
}

/** Over the sampled tokens; null where the file holds no advantages. */
function meanAdvantage({ trajectory, learned }: ReadTrajectory): number | null {
  if (learned === null) return null;
  const mask = trajectory.nodes.flatMap((node) => [...node.actionMask]);
  const sampled = learned.advantages.filter((_, index) => mask[index] === 1);
  return sampled.length === 0 ? null : sampled.reduce((sum, value) => sum + value, 0) / sampled.length;
}
