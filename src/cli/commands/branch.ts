import { Option } from 'commander';
import { openEnvironment } from '../../env/openEnvironment.js';
import { badInput } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';
import type { Task } from '../../trajectory/task.js';
import type { Trajectory } from '../../trajectory/trajectory.js';
import { loadPolicy } from '../../trainer/loadPolicy.js';
import { embeddedModelFolder } from '../../trainer/model/checkpoint.js';
import { playBranches, type BranchPoint } from '../../trainer/playBranches.js';
import type { MessagePlayer, Player } from '../../trainer/rollout/arena.js';
import { environmentArena, samplingOptions } from '../../trainer/rollout/environmentArena.js';
import { findCheckpoints, stepOf } from '../../trainer/run/checkpoints.js';
import { openRun, type RunReader } from '../../trainer/run/runReader.js';
import { loadRunTokenizer } from '../../trainer/run/runTokenizer.js';
import { RunWriter } from '../../trainer/run/runWriter.js';
import type { Settings } from '../../trainer/run/settings.js';
import { acquireTrainLock } from '../../trainer/run/trainLock.js';
import { interruptible } from '../interrupt.js';
import {
  countFromOne,
  decimalNumber,
  deviceOption,
  jsonOption,
  locateState,
  repoOption,
  wholeNumber,
  type AddCommand,
  type RepoOptions,
} from '../options.js';
import { print, printable, printJson, ProgressLine, table } from '../output.js';
import {
  addPlayerOptions,
  checkpointIfAny,
  modelOfOptions,
  nameOfPlayer,
  otherPlayer,
  type PlayerOptions,
} from '../players.js';

interface BranchOptions extends RepoOptions, PlayerOptions {
  readonly turn: number;
  readonly count: number;
  readonly temperature?: number;
  readonly device?: Settings['device'];
}

export const addBranchCommand: AddCommand = (program) => {
  const command = program
    .command('branch <run> <trajectory>')
    .description('play on from a turn of a recorded trajectory, several times, and record the branches in its run')
    .addOption(repoOption())
    .addOption(
      new Option('--turn <n>', 'the last turn that the branches share with it; 0: only the prompt')
        .argParser(wholeNumber)
        .makeOptionMandatory(),
    )
    .option('--count <n>', 'how many branches', countFromOne, 4)
    .option('--temperature <x>', "of the branches, 0 is greedy; where it is not given, the run's", decimalNumber);
  addPlayerOptions(command)
    .addOption(deviceOption())
    .addOption(jsonOption())
    .action((run: string, trajectory: string, options: BranchOptions) =>
      interruptible((signal) => branch(run, trajectory, options, signal)),
    );
};

async function branch(runId: string, trajectoryId: string, options: BranchOptions, signal: AbortSignal): Promise<void> {
  const { repoRoot, stateFolder } = await locateState(options);
  const run = openRun(stateFolder, runId);
  const [parent, { settings: recorded }] = [await run.trajectory(trajectoryId), await run.config()];
  const task = await taskOfTrajectory(run, parent);
  const chosen = await modelOfOptions(stateFolder, options);
  const other = options.policy === undefined ? null : otherPlayer(options.policy, options.policyModel, [task]);
  const own = async () => (other === null ? await checkpointIfAny(run) : undefined) ?? recorded.model;
  const model = chosen ?? (await own());
  const settings: Settings = {
    ...recorded,
    model,
    device: options.device ?? recorded.device,
    temperature: options.temperature ?? recorded.temperature,
    // An adapter that is only played becomes part of its model, whose matrices are float32 then.
    lora: { ...recorded.lora, rank: 0 },
    precision: 'float32',
  };
  const progress = new ProgressLine();
  const lock = await acquireTrainLock(stateFolder, runId, 'branching');
  try {
    // As it was recorded: a run that was allowed to be unconfined is branched so.
    const sandbox = parent.sandbox === 'unconfined' ? 'unconfined' : settings.sandbox;
    const environment = await openEnvironment({ path: repoRoot, sandbox, signal });
    const writer = new RunWriter(run.paths);
    try {
      const point: BranchPoint = {
        parent,
        task,
        turn: options.turn,
        count: options.count,
        policy: nameOfPlayer(options, model),
      };
      let done = 0;
      const play = (player: Player | MessagePlayer, callExample?: string) =>
        playBranches(
          player,
          environmentArena(environment, settings, callExample),
          run,
          point,
          samplingOptions(settings, 'rollout'),
          {
            concurrency: settings.deterministic ? 1 : settings.concurrency,
            signal,
            gate: () => Promise.resolve(),
            onTrajectory: (trajectory) => {
              writer.trajectory(trajectory);
              progress.update(say`${++done} of ${point.count} branches`);
            },
          },
          () => loadRunTokenizer(run, embeddedModelFolder),
        );
      const playWithModel = async () => {
        const policy = await loadPolicy(settings, repoRoot, signal);
        const { generator, codec } = policy;
        try {
          return await play({ generator, codec, policyStep: await policyStepOf(run, model) }, codec.toolFormat.example);
        } finally {
          await policy.dispose();
        }
      };
      const branches = other === null ? await playWithModel() : await play(other);
      progress.clear();
      tell(runId, point, branches, environment.sandbox, options);
    } finally {
      progress.clear();
      writer.close();
      await environment.dispose();
    }
  } finally {
    await lock.release();
  }
}

function tell(
  run: string,
  { parent, task, turn, policy }: BranchPoint,
  branches: readonly Trajectory[],
  sandbox: string,
  { json }: RepoOptions,
): void {
  const outcome = ({ id, grade, stopReason, statistics, infrastructureError }: Trajectory) => ({
    id,
    reward: grade?.reward ?? null,
    resolved: grade?.resolved ?? false,
    turns: statistics.turns,
    stopReason,
    infrastructureError,
  });
  const outcomes = branches.map(outcome);
  const trajectory = outcome(parent);
  if (json) return printJson({ run, trajectory, task: task.instance_id, turn, policy, sandbox, branches: outcomes });
  print(printable(`Played on by ${policy} behind turn ${turn}:`));
  print(
    table(
      ['trajectory', 'reward', 'outcome', 'turns', 'stopped by'],
      [trajectory, ...outcomes].map((one) => [
        one.id,
        one.reward === null ? '-' : one.reward.toFixed(3),
        one.infrastructureError !== null ? 'infrastructure' : one.resolved ? 'resolved' : 'failed',
        String(one.turns),
        one.stopReason,
      ]),
    ),
  );
}

/** Optimizer steps behind a checkpoint of the run; 0 for any other model. */
async function policyStepOf(run: RunReader, model: string): Promise<number> {
  const played = (await findCheckpoints(run.paths.checkpoints)).find(({ folder }) => folder === model);
  return played ? stepOf(played) : 0;
}

/** The task as the run holds it. Throws bad-input where it does not. */
export async function taskOfTrajectory(run: RunReader, { taskId }: Trajectory): Promise<Task> {
  const task = (await run.tasks()).find(({ instance_id }) => instance_id === taskId);
  if (task !== undefined) return task;
  throw badInput(say`Run ${run.id} does not hold the task ${taskId}.`, 'Its tasks.json was changed; restore it.');
}
