import { cancelled } from '../../trajectory/errors.js';
import type { Task, TaskSplit } from '../../trajectory/task.js';
import type { Trajectory } from '../../trajectory/trajectory.js';
import { meanOf } from '../algorithm/stepMetrics.js';
import { evaluationTasks, summarize } from '../evaluate.js';
import type { Arena, MessagePlayer, Player } from '../rollout/arena.js';
import { samplingOptions } from '../rollout/environmentArena.js';
import { learnedMasks } from '../rollout/nodes.js';
import type { Schedule } from '../rollout/playGroups.js';
import { createRun, settleTasks } from '../run/createRun.js';
import { newRunId } from '../run/runDirectory.js';
import type { Evaluation, RunConfig } from '../run/runRecord.js';
import { RunWriter } from '../run/runWriter.js';
import type { Settings } from '../run/settings.js';
import { searchTasks, type SearchOptions } from './search.js';

/** Where a search is recorded. */
export interface SearchRecord {
  readonly stateFolder: string;
  readonly repoRoot: string;
  readonly headCommit: string;
}

/**
 * An evaluation in which each task is searched: what counts is the episode that the search answers with. All that was played is
 * recorded as a run of its own, in which it can be looked at like any other; of train tasks as rollouts, so that it can be learned
 * from, of held-out ones as evaluations, which never are.
 */
export async function evaluateBySearch(
  player: Player | MessagePlayer,
  arena: Arena,
  tasks: readonly Task[],
  split: TaskSplit,
  settings: Settings,
  options: Omit<SearchOptions, 'seed'>,
  schedule: Schedule,
  { stateFolder, repoRoot, headCommit }: SearchRecord,
): Promise<Evaluation & { readonly run: string }> {
  const chosenTasks = evaluationTasks(tasks, split, settings);
  const config: RunConfig = {
    version: 1,
    runId: newRunId(),
    createdAt: new Date().toISOString(),
    repoRoot,
    headCommit,
    settings: { ...settings, steps: 0, stages: [] },
    taskIds: { train: [], heldout: [] },
    sandbox: arena.sandbox,
  };
  const paths = await createRun(stateFolder, config);
  await settleTasks(paths, config, chosenTasks);
  const writer = new RunWriter(paths);
  try {
    writer.event({ type: 'started', pid: process.pid, resumedFromStep: null });
    const searched = await searchTasks(
      player,
      arena,
      chosenTasks,
      split === 'heldout' ? 'evaluation' : 'rollout',
      { ...options, seed: settings.seed },
      samplingOptions(settings, 'rollout'),
      {
        ...schedule,
        onTrajectory: (trajectory) => {
          writer.trajectory(trajectory);
          schedule.onTrajectory(trajectory);
        },
      },
    );
    const answers = searched.map(({ chosen }) => ({ ...chosen, sample: 0 }));
    const summary = summarize(answers, player.policyStep, split, chosenTasks);
    const evaluation = { ...summary, metrics: { ...summary.metrics, ...costOf(searched.map(({ played }) => played)) } };
    writer.event({ type: 'evaluation', ...evaluation });
    const { search, width, depth, scorer } = options;
    const message = `Searched (${search}, width ${width}, depth ${depth}, by ${scorer}).`;
    writer.event({ type: 'finished', status: 'completed', message });
    return { ...evaluation, run: config.runId };
  } catch (error) {
    const status = schedule.signal.aborted ? 'stopped' : 'failed';
    writer.event({ type: 'finished', status, message: status === 'stopped' ? 'Stopped.' : (error as Error).message });
    throw schedule.signal.aborted ? cancelled() : error;
  } finally {
    writer.close();
  }
}

/** What the search took, a task: its episodes, and what was sampled in them, shared prefixes counted once. */
function costOf(played: readonly (readonly Trajectory[])[]): Record<string, number> {
  const sampled = (trajectory: Trajectory) =>
    learnedMasks(trajectory).reduce((sum, mask) => sum + mask.reduce((ones, bit) => ones + bit, 0), 0);
  return {
    'search/episodes': meanOf(played.map(({ length }) => length)),
    'search/sampled_tokens': meanOf(played.map((all) => all.reduce((sum, one) => sum + sampled(one), 0))),
  };
}
