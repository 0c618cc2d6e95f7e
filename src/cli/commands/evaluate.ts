import { Option } from 'commander';
import { openEnvironment } from '../../env/openEnvironment.js';
import { readTasks } from '../../env/tasks/taskStore.js';
import { badInput } from '../../trajectory/errors.js';
import type { TaskSplit } from '../../trajectory/task.js';
import { evaluate, evaluationTasks } from '../../trainer/evaluate.js';
import { loadPolicy } from '../../trainer/loadPolicy.js';
import { environmentArena } from '../../trainer/rollout/environmentArena.js';
import { openRun } from '../../trainer/run/runReader.js';
import { loadSettings, type Settings } from '../../trainer/run/settings.js';
import { interruptible } from '../interrupt.js';
import {
  deviceOption,
  jsonOption,
  locateState,
  modelOption,
  modelPath,
  repoOption,
  sandboxOption,
  seedOption,
  wholeNumber,
  type AddCommand,
  type SandboxOptions,
} from '../options.js';
import { percent, print, printJson, ProgressLine } from '../output.js';

interface EvaluateOptions extends SandboxOptions {
  readonly model?: string;
  readonly run?: string;
  readonly split: TaskSplit;
  readonly samples?: number;
  readonly device?: Settings['device'];
  readonly seed?: number;
}

export const addEvaluateCommand: AddCommand = (program) => {
  program
    .command('eval')
    .description('play tasks with a policy and print its success with a 95 % interval')
    .addOption(repoOption())
    .addOption(modelOption())
    .addOption(
      new Option('--run <run[:step]>', "a run's checkpoint; the last one where no step is given").conflicts('model'),
    )
    .addOption(new Option('--split <split>', 'which tasks').choices(['heldout', 'train']).default('heldout'))
    .option('--samples <n>', 'episodes of each task', wholeNumber)
    .addOption(deviceOption())
    .addOption(sandboxOption())
    .addOption(seedOption())
    .addOption(jsonOption())
    .action((options: EvaluateOptions) => interruptible((signal) => evaluateCommand(options, signal)));
};

async function evaluateCommand(options: EvaluateOptions, signal: AbortSignal): Promise<void> {
  const { repoRoot, stateFolder } = await locateState(options);
  const model = options.run === undefined ? modelPath(options.model) : await checkpointOf(stateFolder, options.run);
  const { sandbox, device, seed, samples } = options;
  // An adapter that is only played becomes part of its model.
  const lora = { rank: 0 };
  const settings = await loadSettings(repoRoot, { model, sandbox, device, seed, evaluationSamples: samples, lora });
  const tasks = await readTasks(stateFolder);
  const total = evaluationTasks(tasks, options.split, settings).length * settings.evaluationSamples;
  if (total === 0) throw badInput(`There is no ${options.split} task.`, 'See `whetstone tasks list`.');
  const environment = await openEnvironment({ path: repoRoot, sandbox: settings.sandbox, signal });
  const progress = new ProgressLine();
  try {
    const policy = await loadPolicy(settings, repoRoot);
    try {
      let done = 0;
      const schedule = {
        concurrency: settings.concurrency,
        signal,
        gate: () => Promise.resolve(),
        onTrajectory: () => progress.update(`${++done} of ${total} episodes`),
      };
      const player = { generator: policy.generator, codec: policy.codec, policyStep: 0 };
      const result = await evaluate(
        player,
        environmentArena(environment, settings),
        tasks,
        options.split,
        settings,
        schedule,
      );
      progress.clear();
      if (options.json) return printJson({ ...result, model: settings.model, sandbox: environment.sandbox });
      const [low, high] = result.success.interval;
      print(
        `${options.split} success ${percent(result.success.rate)} (95 % interval ${percent(low)} to ${percent(high)}, ${result.success.n} episodes), mean reward ${result.meanReward.toFixed(3)}, valid calls ${percent(result.validCallRate)}`,
      );
    } finally {
      await policy.dispose();
    }
  } finally {
    progress.clear();
    await environment.dispose();
  }
}

/** The folder of `RUN` or `RUN:STEP`. Throws badInput where there is no such checkpoint. */
export async function checkpointOf(stateFolder: string, text: string): Promise<string> {
  const [id, step] = text.split(':');
  const run = openRun(stateFolder, id);
  const checkpoints = (await run.events()).filter((event) => event.type === 'checkpoint');
  const found = step === undefined ? checkpoints.at(-1) : checkpoints.findLast((event) => String(event.step) === step);
  if (found === undefined) {
    const steps = [...new Set(checkpoints.map((event) => event.step))];
    throw badInput(
      `Run ${id} has no checkpoint${step === undefined ? '' : ` of step ${step}`}.`,
      steps.length > 0 ? `It has those of the steps ${steps.join(', ')}.` : 'Let it train for a while.',
    );
  }
  return found.folder;
}
