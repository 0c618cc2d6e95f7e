import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { recordedTurns } from '../../env/replay.js';
import { badInput } from '../../trajectory/errors.js';
import type { AssistantMessage } from '../../trajectory/message.js';
import { say } from '../../trajectory/said.js';
import type { Task } from '../../trajectory/task.js';
import type { Trajectory } from '../../trajectory/trajectory.js';
import { withoutTokens } from '../../trajectory/withoutTokens.js';
import { createRun, settleTasks } from '../run/createRun.js';
import { runPaths, runsFolder } from '../run/runDirectory.js';
import { openRun } from '../run/runReader.js';
import type { RunConfig } from '../run/runRecord.js';
import { RunWriter } from '../run/runWriter.js';
import { lockOrHolder, newHolder } from '../run/trainLockFile.js';

/** The run of a repository that holds what people demonstrated. No training writes to it. */
export const demonstrationsRunId = 'demonstrations';

/** What a person did in a task that they solved. */
export interface PersonDemonstration {
  readonly taskId: string;
  /** Counts a task's demonstrations, from 0. */
  readonly sample: number;
  /** All turns, those of the trajectory that was taken over first. */
  readonly turns: readonly AssistantMessage[];
  /** How many of them the person did not say: they are shown, and not learned from. */
  readonly given: number;
}

/** A demonstration that was played, and what it took over. */
export interface PlayedDemonstration {
  readonly trajectory: Trajectory;
  readonly task: Task;
  /** The trajectory that was taken over and the run that recorded it; null where the person began. */
  readonly takenOver: { readonly runId: string; readonly parent: Trajectory } | null;
}

const lockWaitMs = 10_000;

/**
 * Keeps a demonstration in the repository's run of demonstrations, which is made where there is none; gives its id there.
 * What was taken over is kept with it, so that the record is whole. Token ids are left out: the run has no tokenizer.
 */
export async function keepDemonstration(
  stateFolder: string,
  config: Omit<RunConfig, 'version' | 'runId' | 'createdAt' | 'taskIds'>,
  { trajectory, task, takenOver }: PlayedDemonstration,
): Promise<string> {
  const release = await lock(stateFolder);
  try {
    if (!existsSync(runPaths(path.join(runsFolder(stateFolder), demonstrationsRunId)).config)) {
      const createdAt = new Date().toISOString();
      const taskIds = { train: [], heldout: [] };
      await createRun(stateFolder, { ...config, version: 1, runId: demonstrationsRunId, createdAt, taskIds });
    }
    const run = openRun(stateFolder, demonstrationsRunId);
    const tasks = (await run.tasks()).filter(({ instance_id }) => instance_id !== task.instance_id);
    await settleTasks(run.paths, await run.config(), [...tasks, task]);
    const ofTask = await run.headers((one) => one.kind === 'demonstration' && one.taskId === task.instance_id);
    const sample = ofTask.length;
    const id = `demonstration/${task.instance_id}/${sample}`;
    const writer = new RunWriter(run.paths);
    try {
      let origin = trajectory.origin;
      if (takenOver !== null && origin !== undefined && takenOver.runId !== demonstrationsRunId) {
        const parentId = `${takenOver.runId}/${takenOver.parent.id}`;
        origin = { ...origin, trajectoryId: parentId };
        if (!(await run.ids()).has(parentId)) {
          // It shows where the person began; whoever played it, it is no demonstration of theirs.
          writer.trajectory({ ...withoutTokens(takenOver.parent), id: parentId, kind: 'rollout', origin: undefined });
        }
      }
      writer.trajectory({ ...withoutTokens(trajectory), id, sample, ...(origin === undefined ? {} : { origin }) });
      writer.event({ type: 'finished', status: 'completed', ...say`Demonstrations by people.` });
    } finally {
      writer.close();
    }
    return id;
  } finally {
    await release();
  }
}

/** The demonstrations that solved one of these tasks, in the order that they were played. */
export async function readDemonstrations(
  stateFolder: string,
  taskIds: ReadonlySet<string>,
): Promise<readonly PersonDemonstration[]> {
  if (!existsSync(runPaths(path.join(runsFolder(stateFolder), demonstrationsRunId)).config)) return [];
  const run = openRun(stateFolder, demonstrationsRunId);
  const wanted = await run.headers(
    ({ kind, resolved, taskId }) => kind === 'demonstration' && resolved && taskIds.has(taskId),
  );
  const read: PersonDemonstration[] = [];
  for (const { id, taskId, sample } of wanted) {
    const { nodes, origin } = await run.trajectory(id);
    read.push({
      taskId,
      sample,
      turns: recordedTurns(nodes).map(({ message }) => message),
      given: recordedTurns(nodes.slice(0, origin?.nodes ?? 0)).length,
    });
  }
  return read;
}

/** Two windows may end a demonstration at the same moment; each writes for a moment only. */
async function lock(stateFolder: string): Promise<() => Promise<void>> {
  const file = path.join(stateFolder, 'demonstrations.lock');
  const mine = await newHolder(demonstrationsRunId, 'branching');
  for (const end = Date.now() + lockWaitMs; (await lockOrHolder(file, mine)) !== null; await setTimeout(50)) {
    if (Date.now() > end) throw badInput('Another demonstration is being written.', 'Try again.');
  }
  return () => rm(file, { force: true });
}
