import { Option } from 'commander';
import { openEnvironment } from '../../env/openEnvironment.js';
import { readExclusions, readIncludedTasks, withoutExcluded } from '../../env/tasks/excludedTasks.js';
import { badInput } from '../../trajectory/errors.js';
import { say, type Said } from '../../trajectory/said.js';
import type { Task, TaskSplit } from '../../trajectory/task.js';
import { evaluate, evaluationTasks } from '../../trainer/evaluate.js';
import { evaluateRecorded } from '../../trainer/recordedEvaluation.js';
import { evaluateWithMemory } from '../../trainer/memory/evaluateWithMemory.js';
import { evaluateBySearch } from '../../trainer/search/evaluateBySearch.js';
import { scorerNames, type ScorerName } from '../../trainer/search/scorers.js';
import { searchNames, type SearchName } from '../../trainer/search/searchPolicies.js';
import { compareEvaluations } from '../../trainer/evaluation/compareEvaluations.js';
import { loadPolicy } from '../../trainer/loadPolicy.js';
import type { MessagePlayer, Player } from '../../trainer/rollout/arena.js';
import { environmentArena } from '../../trainer/rollout/environmentArena.js';
import { rememberedMetrics, testMemoryOf } from '../../trainer/rollout/testMemory.js';
import { openRun } from '../../trainer/run/runReader.js';
import type { Evaluation } from '../../trainer/run/runRecord.js';
import { loadTrainingSettings, type Settings } from '../../trainer/run/settings.js';
import { comparisonLines } from '../comparisonLines.js';
import { interruptible } from '../interrupt.js';
import {
  countFromOne,
  deviceOption,
  filled,
  jsonOption,
  locateState,
  repoOption,
  sandboxOption,
  seedOption,
  wholeNumber,
  workersOption,
  type AddCommand,
  type SandboxOptions,
} from '../options.js';
import { openWorkers } from '../../trainer/workers/openWorkers.js';
import { sandboxOf, workerArena } from '../../trainer/workers/workerArena.js';
import {
  addPlayerOptions,
  earlierModel,
  modelOfOptions,
  nameOfPlayer,
  otherPlayer,
  type PlayerOptions,
} from '../players.js';
import { addJudgeOptions, judgeSection, type JudgeOptions } from '../judgeOptions.js';
import { addPlayingOptions, playingSettings, type PlayingOptions } from '../playingOptions.js';
import { percent, print, printable, printJson, ProgressLine, table } from '../output.js';

interface EvaluateOptions extends SandboxOptions, PlayerOptions, PlayingOptions, JudgeOptions {
  readonly split: TaskSplit;
  readonly task?: string;
  readonly evaluationTasks?: number;
  readonly samples?: number;
  readonly record?: boolean;
  readonly against?: string;
  readonly attempts?: number;
  readonly search?: SearchName;
  readonly width: number;
  readonly depth: number;
  readonly scorer: ScorerName;
  readonly workers?: string[];
  readonly device?: Settings['device'];
  readonly seed?: number;
}

export const addEvaluateCommand: AddCommand = (program) => {
  const command = program
    .command('eval')
    .description('play tasks with a policy and print its success with a 95 % interval')
    .addOption(repoOption());
  addPlayerOptions(command)
    .addOption(new Option('--split <split>', 'which tasks').choices(['heldout', 'train']).default('heldout'))
    .addOption(
      new Option('--task <id>', 'plays this task alone').argParser(filled).conflicts(['split', 'evaluationTasks']),
    )
    .option('--evaluation-tasks <n>', 'how many of them, chosen by the seed; 0 plays all', wholeNumber)
    .option('--samples <n>', 'episodes of each task', wholeNumber)
    .addOption(
      new Option('--record', 'keeps the episodes as a run of their own, as --search and --attempts do').conflicts([
        'search',
        'attempts',
      ]),
    )
    .addOption(
      new Option(
        '--against <policy>',
        'an earlier policy to compare with, episode by episode: a run[:step], `embedded` or a model folder',
      ).argParser(filled),
    )
    .addOption(
      new Option(
        '--attempts <n>',
        'tries a task again, up to n times, until its policy saw all tests pass; each attempt is shown lessons of those before',
      )
        .argParser(countFromOne)
        .conflicts(['samples', 'against', 'search']),
    )
    .addOption(
      new Option('--search <search>', 'plays each task several times and answers with the best episode by --scorer')
        .choices(searchNames)
        .conflicts(['samples', 'against']),
    )
    .option('--width <n>', 'of a search: episodes of a task in a round', countFromOne, 4)
    .option('--depth <n>', 'of a search: rounds; in all but the first it goes on from turns of before', countFromOne, 3)
    .addOption(
      new Option(
        '--scorer <scorer>',
        'what a search goes by: the tests that the policy ran, milestones of its work, or its own log-probability',
      )
        .choices(scorerNames)
        .default('tests'),
    )
    .addOption(workersOption().conflicts(['search', 'attempts']))
    .addOption(deviceOption())
    .addOption(sandboxOption())
    .addOption(seedOption())
    .addOption(jsonOption())
    .action((options: EvaluateOptions) => interruptible((signal) => evaluateCommand(options, signal)));
  addPlayingOptions(command);
  addJudgeOptions(command);
};

async function evaluateCommand(options: EvaluateOptions, signal: AbortSignal): Promise<void> {
  const { repoRoot, stateFolder } = await locateState(options);
  const model = await modelOfOptions(stateFolder, options);
  const against = options.against === undefined ? null : await earlierModel(stateFolder, options.against);
  const { sandbox, device, seed, samples, workers: urls } = options;
  const all = await tasksToPlay(stateFolder, options.run);
  const other = options.policy === undefined ? null : otherPlayer(options.policy, options.policyModel, all);
  // An adapter that is only played becomes part of its model, whose matrices are float32 then.
  const [lora, precision] = [{ rank: 0 }, 'float32'] as const;
  const settings = await loadTrainingSettings(repoRoot, {
    ...playingSettings(options),
    ...judgeSection(options),
    model,
    sandbox,
    device,
    seed,
    evaluationTasks: options.evaluationTasks,
    evaluationSamples: samples,
    workers: urls,
    lora,
    precision,
  });
  const { tasks, split } = chosenTasks(all, options);
  const { search, width, depth, scorer, attempts } = options;
  const count = evaluationTasks(tasks, split, settings).length;
  // At most: a search ends where nothing is left to go on from.
  const rounds = search === 'best-of' ? 1 : depth;
  const total = count * (attempts ?? (search === undefined ? settings.evaluationSamples : width * rounds));
  if (total === 0) throw badInput(say`There is no ${split} task.`, 'See `whetstone tasks list`.');
  const progress = new ProgressLine();
  const notice = (line: string) => {
    progress.clear();
    process.stderr.write(`${printable(line)}\n`);
  };
  const workers = settings.workers.length === 0 ? null : await openWorkers(settings.workers, notice, signal);
  const environment = await openEnvironment({ path: repoRoot, sandbox: settings.sandbox, signal });
  const testMemory = testMemoryOf(settings);
  const playWith = async (
    player: Player | MessagePlayer,
    ofModel: Settings,
    describe: (done: number) => Said,
    callExample?: string,
  ): Promise<Evaluation & { readonly run?: string }> => {
    let done = 0;
    const schedule = {
      concurrency: ofModel.concurrency,
      signal,
      gate: () => Promise.resolve(),
      onTrajectory: () => progress.update(describe(++done)),
    };
    const arena =
      workers === null
        ? environmentArena(environment, ofModel, callExample, testMemory)
        : workerArena(workers, ofModel, callExample);
    const runsBefore = testMemory?.counts;
    const place = { stateFolder, repoRoot, headCommit: environment.repository.headCommit };
    const played =
      attempts !== undefined
        ? evaluateWithMemory(player, arena, tasks, split, ofModel, attempts, place, schedule)
        : search !== undefined
          ? evaluateBySearch(
              player,
              arena,
              tasks,
              split,
              ofModel,
              { search, width, depth, scorer, policy: nameOfPlayer(options, ofModel.model) },
              place,
              schedule,
            )
          : options.record
            ? evaluateRecorded(
                player,
                arena,
                tasks,
                split,
                ofModel,
                nameOfPlayer(options, ofModel.model),
                place,
                schedule,
              )
            : evaluate(player, arena, tasks, split, ofModel, schedule);
    const result = await played.finally(() => progress.clear());
    const remembered = testMemory && runsBefore && rememberedMetrics(runsBefore, testMemory.counts);
    return { ...result, metrics: { ...result.metrics, ...remembered } };
  };
  const play = async (
    ofModel: Settings,
    describe: (done: number) => Said,
  ): Promise<Evaluation & { readonly run?: string }> => {
    const policy = await loadPolicy(ofModel, repoRoot, signal);
    try {
      const player = { generator: policy.generator, codec: policy.codec, policyStep: 0 };
      return await playWith(player, ofModel, describe, policy.codec.toolFormat.example);
    } finally {
      await policy.dispose();
    }
  };
  const ofEarlier = (done: number) => say`${done} of ${total} episodes of the earlier policy`;
  const ofPolicy = (done: number) => say`${done} of ${total} episodes`;
  try {
    const earlier = against === null ? null : await play({ ...settings, model: against }, ofEarlier);
    const result = other === null ? await play(settings, ofPolicy) : await playWith(other, settings, ofPolicy);
    const comparison = earlier && compareEvaluations(earlier.outcomes ?? [], result.outcomes ?? []);
    if (options.json) {
      const compared = comparison && { comparison: { against, success: earlier.success, ...comparison } };
      return printJson({
        ...result,
        model: options.policy ?? settings.model,
        sandbox: workers === null ? environment.sandbox : sandboxOf(workers),
        ...compared,
      });
    }
    for (const line of evaluationLines(result, split)) print(line);
    if (result.run !== undefined) print(`All that was played: whetstone runs show ${result.run}`);
    if (comparison) for (const line of ['', ...comparisonLines(comparison)]) print(printable(line));
  } finally {
    progress.clear();
    await environment.dispose();
  }
}

/** The task that is asked for, whatever its split, or all, of which the split is played. Throws bad-input where there is none. */
function chosenTasks(
  tasks: readonly Task[],
  { task: id, split }: EvaluateOptions,
): { readonly tasks: readonly Task[]; readonly split: TaskSplit } {
  if (id === undefined) return { tasks, split };
  const task = tasks.find(({ instance_id }) => instance_id === id);
  if (task === undefined) throw badInput(say`There is no task '${id}' to play.`, 'See `whetstone tasks list`.');
  return { tasks: [task], split: task.whetstone.split };
}

/** What an evaluation found, for a person. */
function evaluationLines(
  { success, meanReward, validCallRate, passAtK = {}, metrics = {} }: Evaluation,
  split: TaskSplit,
) {
  const [low, high] = success.interval;
  const passes = Object.entries(passAtK).map(([k, rate]) => `pass@${k} ${percent(rate)}`);
  return [
    `${split} success ${percent(success.rate)} (95 % interval ${percent(low)} to ${percent(high)}, ${success.n} episodes), mean reward ${meanReward.toFixed(3)}, valid calls ${percent(validCallRate)}`,
    ...(passes.length > 1 ? [passes.join(', ')] : []),
    '',
    table(
      ['measure', 'value'],
      Object.entries(metrics).map(([name, value]) => [name, String(Number(value.toPrecision(3)))]),
    ),
  ];
}

/**
 * The tasks that a run was split by: those of the repository may have been built anew, with what it learned from held out.
 * What a person left out is not played.
 */
async function tasksToPlay(stateFolder: string, run: string | undefined): Promise<readonly Task[]> {
  const own = run === undefined ? [] : await openRun(stateFolder, run.split(':')[0]).tasks();
  if (own.length === 0) return readIncludedTasks(stateFolder);
  return withoutExcluded(own, await readExclusions(stateFolder));
}
