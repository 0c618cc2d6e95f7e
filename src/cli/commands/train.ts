import { InvalidArgumentError, Option } from 'commander';
import { WhetstoneError } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';
import { startTraining } from '../../trainer/background/client.js';
import { resumeChangesSchema, type ResumeChanges } from '../../trainer/run/resumeChanges.js';
import { compareEvaluations } from '../../trainer/evaluation/compareEvaluations.js';
import { comparisonLines } from '../comparisonLines.js';
import { listRuns, openRun, type RunReader } from '../../trainer/run/runReader.js';
import { algorithmSchema } from '../../trainer/run/algorithmSettings.js';
import { loadTrainingSettings, settingsSchema, type Settings, type SettingsInput } from '../../trainer/run/settings.js';
import { projections, type Projection } from '../../trainer/model/lora.js';
import { precisions } from '../../trainer/model/precision.js';
import { optimizerSchema, type OptimizerSettings } from '../../trainer/run/learnerSettings.js';
import { addJudgeOptions, judgeSection, type JudgeOptions } from '../judgeOptions.js';
import { addRouteOptions, routeSections, type RouteOptions } from '../routeOptions.js';
import { addPlayingOptions } from '../playingOptions.js';
import { followTraining } from '../followTraining.js';
import { interruptible } from '../interrupt.js';
import {
  countFromOne,
  decimalNumber,
  deviceOption,
  jsonOption,
  locateState,
  modelOption,
  modelPath,
  phrase,
  repoOption,
  sandboxOption,
  seedOption,
  wholeNumber,
  workersOption,
  type AddCommand,
  type RepoOptions,
} from '../options.js';
import { showOutlook } from '../outlook.js';
import { percent, print, printable, printJson, ProgressLine, table } from '../output.js';
import path from 'node:path';

type TrainOptions = RepoOptions &
  Omit<
    SettingsInput,
    | 'reward'
    | 'shaping'
    | 'judge'
    | 'algorithm'
    | 'lora'
    | 'optimizer'
    | 'curriculum'
    | 'exploration'
    | 'replay'
    | 'asynchrony'
    | 'checkpoints'
  > &
  NonNullable<SettingsInput['algorithm']> &
  RouteOptions &
  JudgeOptions & {
    resume?: string;
    dryRun?: true;
    kl?: number;
    schedule?: OptimizerSettings['schedule'];
    warmupSteps?: number;
    loraRank?: number;
    loraAlpha?: number;
    loraTargets?: Projection[];
  };

/** An option of the algorithm, with the words that the settings have for it. */
const algorithmChoice = (
  flags: string,
  key: 'advantage' | 'loss' | 'klEstimator' | 'klPlace' | 'importanceCorrection',
) => new Option(flags, describe(key)).choices(algorithmSchema.shape[key].unwrap().options);
const describe = (key: keyof typeof algorithmSchema.shape) => phrase(algorithmSchema.shape[key]);
const scheduleNames = optimizerSchema.shape.schedule.unwrap().options;

export const addTrainCommand: AddCommand = (program) => {
  const command = program
    .command('train')
    .description('train a policy on this repository, with GRPO unless another algorithm is chosen')
    .addOption(repoOption())
    .addOption(modelOption())
    .addOption(deviceOption())
    .addOption(sandboxOption())
    .addOption(workersOption())
    .option('--steps <n>', 'training steps', wholeNumber)
    .option('--tasks-per-step <n>', 'tasks in one step', wholeNumber)
    .option('--group-size <n>', 'rollouts of one task in one step', wholeNumber)
    .option('--warm-start-epochs <n>', "passes over an expert's episodes before the first step; 0: none", wholeNumber)
    .option('--warm-start-learning-rate <x>', 'highest learning rate of the warm start', decimalNumber)
    .option('--learning-rate <x>', 'learning rate of AdamW', decimalNumber)
    .addOption(new Option('--schedule <name>', 'how the learning rate falls').choices(scheduleNames))
    .option('--warmup-steps <n>', 'steps in which the learning rate rises', wholeNumber)
    .addOption(new Option('--precision <name>', phrase(settingsSchema.shape.precision)).choices(precisions))
    .option('--activation-memory <n>', 'mebibytes that the learner keeps for its backward pass', countFromOne)
    .option('--lora-rank <n>', 'rank of the adapter that is trained; 0 trains all parameters', wholeNumber)
    .option('--lora-alpha <x>', 'what the adapter adds counts alpha / rank', decimalNumber)
    .option('--lora-targets <names>', `projections that it changes, of ${projections.join(',')}`, projectionList)
    .option('--dynamic-sampling <n>', describe('dynamicSampling'), wholeNumber)
    .option('--pivots <n>', describe('pivots'), wholeNumber)
    .option('--continuations <n>', describe('continuations'), countFromOne)
    .option('--macro-turns <n>', describe('macroTurns'), countFromOne)
    .option('--overlong-buffer <n>', describe('overlongBuffer'), wholeNumber)
    .option('--overlong-length <n>', describe('overlongLength'), wholeNumber)
    .option('--overlong-factor <x>', describe('overlongFactor'), decimalNumber)
    .option('--mask-truncated', describe('maskTruncated'))
    .option('--turn-discount <x>', describe('turnDiscount'), decimalNumber)
    .option('--step-weight <x>', describe('stepWeight'), decimalNumber)
    .option('--gamma <x>', describe('gamma'), decimalNumber)
    .option('--lambda <x>', describe('lambda'), decimalNumber)
    .option('--value-clip <x>', describe('valueClip'), decimalNumber)
    .option('--value-coefficient <x>', describe('valueCoefficient'), decimalNumber)
    .option('--value-learning-rate <x>', describe('valueLearningRate'), decimalNumber)
    .option('--rho-bar <x>', describe('rhoBar'), decimalNumber)
    .option('--c-bar <x>', describe('cBar'), decimalNumber)
    .option('--kl <x>', 'weight of the KL term to the starting policy', decimalNumber)
    .addOption(algorithmChoice('--kl-estimator <name>', 'klEstimator'))
    .addOption(algorithmChoice('--kl-place <place>', 'klPlace'))
    .addOption(algorithmChoice('--advantage <estimator>', 'advantage'))
    .addOption(algorithmChoice('--loss <name>', 'loss'))
    .option('--clip-low <x>', 'the importance ratio counts as at least 1 - x', decimalNumber)
    .option('--clip-high <x>', 'the importance ratio counts as at most 1 + x', decimalNumber)
    .option('--dual-clip <x>', describe('dualClip'), decimalNumber)
    .option('--entropy-coefficient <x>', describe('entropyCoefficient'), decimalNumber)
    .addOption(algorithmChoice('--importance-correction <kind>', 'importanceCorrection'))
    .option('--importance-low <x>', describe('importanceLow'), decimalNumber)
    .option('--importance-high <x>', describe('importanceHigh'), decimalNumber)
    .option('--hindsight-weight <x>', phrase(settingsSchema.shape.hindsightWeight), decimalNumber)
    .option('--evaluation-tasks <n>', 'held-out tasks played before and after; 0 plays all', wholeNumber)
    .option('--evaluation-samples <n>', 'episodes of each of them', wholeNumber)
    .option('--checkpoint-every <n>', 'steps from one checkpoint to the next', wholeNumber)
    .option('--concurrency <n>', 'episodes side by side', wholeNumber)
    .addOption(
      new Option(
        '--doctor <mode>',
        'looks for failure modes after each step; `pause` also pauses at critical ones',
      ).choices(settingsSchema.shape.doctor.unwrap().options),
    )
    .addOption(seedOption())
    .option('--deterministic', 'the same bits every time on the CPU; slower')
    .addOption(
      new Option('--dry-run', 'only say about how much memory and time it would take, on each device').conflicts(
        'resume',
      ),
    )
    .option('--resume <run>', 'go on with an interrupted or stopped run; `last` is the newest')
    .addOption(jsonOption())
    .action((options: TrainOptions) => interruptible((signal) => train(options, signal)));
  addPlayingOptions(command);
  addJudgeOptions(command);
  addRouteOptions(command);
};

async function train(options: TrainOptions, signal: AbortSignal): Promise<void> {
  const { json, resume } = options;
  const { repoRoot, stateFolder } = await locateState(options);
  const settings = await loadTrainingSettings(repoRoot, chosenSettings(options));
  if (options.dryRun) return showOutlook({ repoRoot, stateFolder }, settings, json);
  const runId = resume === undefined ? undefined : await resumable(stateFolder, resume);
  const changes = runId === undefined ? undefined : chosenChanges(options);
  const run = await runTraining(repoRoot, settings, runId, signal, changes);
  if (json) printJson(await summaryOf(run));
  else for (const line of await reportLines(run)) print(line);
}

/** What the command line says of the settings; whatever it does not say is left to the file and the defaults. */
export function chosenSettings(options: TrainOptions): SettingsInput {
  const model = modelPath(options.model);
  const chosen = (shape: object) => Object.fromEntries(Object.entries(options).filter(([key]) => key in shape));
  const algorithm = chosen(algorithmSchema.shape);
  const optimizer = { schedule: options.schedule, warmupSteps: options.warmupSteps };
  const lora = { rank: options.loraRank, alpha: options.loraAlpha, targets: options.loraTargets };
  const sections = { algorithm, lora, optimizer, ...routeSections(options), ...judgeSection(options) };
  return { ...chosen(settingsSchema.shape), model, klCoefficient: options.kl, ...sections };
}

/** What the command line changes of a run that it resumes. Throws bad-input where that cannot change any more. */
export function chosenChanges(options: TrainOptions): ResumeChanges {
  const isSaid = (value: unknown) =>
    Array.isArray(value) || typeof value !== 'object' || value === null
      ? value !== undefined
      : Object.values(value).some((each) => each !== undefined);
  const said = Object.entries(chosenSettings(options)).filter(([, value]) => isSaid(value));
  const fixed = said.find(([key]) => !(key in resumeChangesSchema.shape));
  if (fixed === undefined) return resumeChangesSchema.parse(Object.fromEntries(said));
  throw new WhetstoneError(
    'bad-input',
    say`A resumed run keeps its own \`${fixed[0]}\`.`,
    say`Leave it out, or start a new run. What can change: ${Object.keys(resumeChangesSchema.shape).join(', ')}.`,
  );
}

function projectionList(text: string): Projection[] {
  const names = text.split(',').map((name) => name.trim());
  const known = projections.filter((projection) => names.includes(projection));
  if (known.length === new Set(names).size) return known;
  throw new InvalidArgumentError(`Name some of ${projections.join(',')}, with commas between them.`);
}

async function resumable(stateFolder: string, resume: string): Promise<string> {
  if (resume !== 'last') return openRun(stateFolder, resume).id;
  const [newest] = await listRuns(stateFolder);
  if (newest === undefined)
    throw new WhetstoneError('bad-input', 'There is no run to resume.', 'Start one with `whetstone train`.');
  return newest.id;
}

/** Trains in a background process that ends with this one, shows its progress, and throws where it failed or was stopped. */
export async function runTraining(
  repoRoot: string,
  settings: Settings,
  resume: string | undefined,
  signal: AbortSignal,
  changes?: ResumeChanges,
): Promise<RunReader> {
  const progress = new ProgressLine();
  const handle = await startTraining({ repoRoot, settings, resume, changes, owner: 'attached' }, signal);
  const stateFolder = path.dirname(path.dirname(handle.runFolder));
  const run = openRun(stateFolder, handle.runId);
  progress.say(`Run ${handle.runId}`);
  const end = await followTraining(handle, run, progress, signal);
  handle.dispose();
  if (end.status === 'completed') return run;
  if (end.status === 'stopped')
    throw new WhetstoneError(
      'cancelled',
      say`Run ${run.id} was stopped.`,
      say`Go on with \`whetstone train --resume ${run.id}\`.`,
    );
  if (end.status === 'failed') throw new WhetstoneError(end.errorKind ?? 'failed', end, '');
  throw new WhetstoneError(
    'failed',
    say`The background process of run ${run.id} is gone.`,
    say`See ${run.paths.log}, and go on with \`whetstone train --resume ${run.id}\`.`,
  );
}

export async function summaryOf(run: RunReader) {
  const [{ id, status, step, steps }, evaluations, stepEvents] = [
    await run.summary(),
    await run.evaluations(),
    await run.steps(),
  ];
  return {
    id,
    status,
    step,
    steps,
    evaluations: evaluations.map(({ step, split, success, meanReward, validCallRate }) => ({
      step,
      split,
      success,
      meanReward,
      validCallRate,
    })),
    metrics: stepEvents.map(({ step, metrics }) => ({ step, ...metrics })),
  };
}

/** The short report at the end: held-out success before and after, mean reward per step, where to look next. */
export async function reportLines(run: RunReader): Promise<string[]> {
  const evaluations = (await run.evaluations()).filter(({ split }) => split === 'heldout');
  const steps = await run.steps();
  const warmStarted = (await run.events()).some(({ type }) => type === 'warm-start');
  const [before, after] = [evaluations.at(0), evaluations.length > 1 ? evaluations.at(-1) : undefined];
  const lines: string[] = [''];
  const rows = [before, after].flatMap((evaluation, index) => {
    if (evaluation === undefined) return [];
    const [low, high] = evaluation.success.interval;
    return [
      [
        index === 0 ? 'before training' : `after ${warmStarted ? 'the warm start and ' : ''}${evaluation.step} steps`,
        percent(evaluation.success.rate),
        `${percent(low)} - ${percent(high)}`,
        String(evaluation.success.n),
        percent(evaluation.validCallRate),
      ],
    ];
  });
  if (rows.length > 0)
    lines.push(table(['held-out tasks', 'success', '95 % interval', 'episodes', 'valid calls'], rows), '');
  if (before?.outcomes && after?.outcomes) {
    lines.push(...comparisonLines(compareEvaluations(before.outcomes, after.outcomes)).map(printable), '');
  }
  if (steps.length > 0) {
    lines.push(
      table(
        ['step', 'mean reward', 'success', 'equal groups'],
        steps.map(({ step, metrics }) => [
          String(step),
          metrics.reward === undefined ? '-' : metrics.reward.toFixed(3),
          metrics.success === undefined ? '-' : percent(metrics.success),
          metrics.frac_reward_zero_std === undefined ? '-' : percent(metrics.frac_reward_zero_std),
        ]),
      ),
      '',
    );
  }
  return lines;
}
