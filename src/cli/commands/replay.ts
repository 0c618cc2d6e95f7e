import { Option } from 'commander';
import { openEnvironment } from '../../env/openEnvironment.js';
import { recordedTurns, replayTrajectory, type RecordedTurn } from '../../env/replay.js';
import { badInput } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';
import { episodeLimits } from '../../trainer/run/episodeLimits.js';
import { openRun } from '../../trainer/run/runReader.js';
import { interruptible } from '../interrupt.js';
import { jsonOption, locateState, repoOption, wholeNumber, type AddCommand, type RepoOptions } from '../options.js';
import { keepWorktree } from '../keptWorktree.js';
import { print, printable, printJson, ProgressLine, quoted } from '../output.js';
import { taskOfTrajectory } from './branch.js';
import { serveReplay } from './stepwiseReplay.js';

interface ReplayOptions extends RepoOptions {
  readonly until?: number;
  readonly keep?: boolean;
  readonly stepwise?: boolean;
}

export const addReplayCommand: AddCommand = (program) => {
  program
    .command('replay <run> <trajectory>')
    .description('play a trajectory again in a fresh worktree and compare what the tools answer with the record')
    .addOption(repoOption())
    .option('--until <turn>', 'the last turn to play; the first is 1', wholeNumber)
    .option('--keep', 'leave the worktree in place afterwards, and say where it is')
    .addOption(jsonOption())
    .addOption(
      new Option(
        '--stepwise',
        'for programs: play turn by turn as requests on standard input ask, each a line of JSON like its answer',
      ).conflicts(['until', 'keep', 'json']),
    )
    .action((run: string, trajectory: string, options: ReplayOptions) =>
      interruptible((signal) => replay(run, trajectory, options, signal)),
    );
};

async function replay(runId: string, trajectoryId: string, options: ReplayOptions, signal: AbortSignal): Promise<void> {
  const { repoRoot, stateFolder } = await locateState(options);
  const run = openRun(stateFolder, runId);
  const [trajectory, { settings }] = [await run.trajectory(trajectoryId), await run.config()];
  const recorded = recordedTurns(trajectory.nodes);
  const { until } = options;
  if (until !== undefined && (until === 0 || until > recorded.length)) {
    throw badInput(
      say`${trajectoryId} has ${recorded.length} turns, so it cannot be played until turn ${until}.`,
      say`Give a turn from 1 to ${recorded.length}.`,
    );
  }
  const task = await taskOfTrajectory(run, trajectory);
  // As it was recorded: a run that was allowed to be unconfined is replayed so.
  const sandbox = trajectory.sandbox === 'unconfined' ? 'unconfined' : settings.sandbox;
  const progress = new ProgressLine();
  const environment = await openEnvironment({ path: repoRoot, sandbox, signal });
  try {
    if (options.stepwise) {
      const answer = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`);
      return await serveReplay(environment, task, recorded, episodeLimits(settings), process.stdin, answer, signal);
    }
    const { turns, episode } = await replayTrajectory(environment, task, recorded, {
      limits: episodeLimits(settings),
      untilTurn: options.until,
      signal,
      onTurn: ({ turn }) => progress.update(say`turn ${turn} of ${options.until ?? recorded.length}`),
      keepOpen: true,
    });
    progress.clear();
    const changes = episode === null ? [] : await episode.changes();
    const worktree = options.keep && episode !== null ? await keepWorktree(episode.root, stateFolder) : null;
    const described = turns.map((turn) => ({ ...turn, call: describeCalls(recorded[turn.turn - 1]) }));
    const result = {
      run: runId,
      trajectory: trajectoryId,
      task: task.instance_id,
      sandbox: environment.sandbox,
      same: turns.every(({ same }) => same),
      turns: described,
      changes,
      worktree,
    };
    if (options.json) return printJson(result);
    for (const { turn, same, call, diff } of described) {
      print(printable(`turn ${turn}: ${same ? 'same' : 'DIFFERS'}  ${call}`));
      if (!same) print(printable(diff.replace(/^/gm, '    ')));
    }
    print(
      result.same
        ? `All ${turns.length} turns as recorded.`
        : `${turns.filter(({ same }) => !same).length} of ${turns.length} turns differ from the record.`,
    );
    const changed = changes.map(({ path }) => path).join(', ') || 'none';
    print(printable(`Files changed by then: ${changed}`));
    if (worktree !== null) {
      print(`The worktree: ${worktree}`);
      const remove = process.platform === 'win32' ? 'rmdir /s' : 'rm -r';
      print(`It stays until you delete it: ${remove} ${quoted(worktree)}`);
    }
  } finally {
    progress.clear();
    await environment.dispose();
  }
}

function describeCalls({ message }: RecordedTurn): string {
  if (message.malformedCall !== undefined) return '(malformed call)';
  if (message.toolCalls.length === 0) return '(no tool call)';
  return message.toolCalls.map((call) => `${call.name} ${JSON.stringify(call.arguments)}`).join('; ');
}
