import { Option } from 'commander';
import path from 'node:path';
import { openRepository } from '../../env/repo/repository.js';
import { readIncludedTasks } from '../../env/tasks/excludedTasks.js';
import { exportTasks, taskFormats, type TaskFormat } from '../../interop/export/exportTasks.js';
import {
  exportTrajectories,
  trajectoryFormats,
  type TrajectoryFormat,
} from '../../interop/export/exportTrajectories.js';
import { openRun } from '../../trainer/run/runReader.js';
import { loadSettings } from '../../trainer/run/settings.js';
import { badInput } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';
import { interruptible } from '../interrupt.js';
import { filled, jsonOption, locateState, repoOption, type AddCommand, type RepoOptions } from '../options.js';
import { print, printable, printJson } from '../output.js';
import { version } from '../version.js';

interface ExportOptions extends RepoOptions {
  readonly format: string;
  readonly run?: string;
  readonly split: 'train' | 'heldout' | 'all';
  readonly kind: 'rollout' | 'evaluation' | 'demonstration' | 'all';
  readonly out: string;
}

const formats = [...new Set<string>([...taskFormats, ...trajectoryFormats])];

export const addExportCommand: AddCommand = (program) => {
  program
    .command('export')
    .description("the tasks, or a run's trajectories, in the format of another system")
    .addOption(repoOption())
    .addOption(new Option('--format <format>', 'which system').choices(formats).makeOptionMandatory())
    .addOption(new Option('--out <folder>', 'a new folder to write').argParser(filled).makeOptionMandatory())
    .option('--run <run>', 'trajectories of this run, in the place of the tasks')
    .addOption(new Option('--split <split>', 'which tasks').choices(['train', 'heldout', 'all']).default('all'))
    .addOption(
      new Option('--kind <kind>', 'with --run: which trajectories')
        .choices(['rollout', 'evaluation', 'demonstration', 'all'])
        .default('all'),
    )
    .addOption(jsonOption())
    .action((options: ExportOptions) => interruptible((signal) => exportCommand(options, signal)));
};

async function exportCommand(options: ExportOptions, signal: AbortSignal): Promise<void> {
  const { repoRoot, stateFolder } = await locateState(options);
  const target = path.resolve(options.out);
  const isWanted = (split: string | undefined) => options.split === 'all' || split === options.split;
  if (options.run !== undefined) {
    const format = oneOf<TrajectoryFormat>(trajectoryFormats, options.format, 'trajectories');
    const run = openRun(stateFolder, options.run);
    const written = await exportTrajectories(run, target, {
      format,
      whetstoneVersion: version,
      include: ({ kind }, task) => (options.kind === 'all' || kind === options.kind) && isWanted(task?.whetstone.split),
      signal,
    });
    return report(options, { written, leftOut: 0, folder: target, main: '.' }, 'trajectories');
  }
  const format = oneOf<TaskFormat>(taskFormats, options.format, 'tasks');
  const tasks = (await readIncludedTasks(stateFolder)).filter(({ whetstone }) => isWanted(whetstone.split));
  if (tasks.length === 0) throw badInput(say`There is no ${options.split} task.`, 'See `whetstone tasks list`.');
  const settings = await loadSettings(repoRoot);
  // There the policy's own computing counts too.
  const limits = { agentSeconds: 10 * settings.episodeSeconds, testSeconds: settings.testSeconds };
  const repository = await openRepository(repoRoot);
  const exported = await exportTasks(repository, tasks, target, { format, limits, signal });
  report(options, { ...exported, folder: target }, 'tasks');
}

function oneOf<T extends string>(known: readonly T[], format: string, what: string): T {
  const found = known.find((name) => name === format);
  if (found !== undefined) return found;
  const other =
    what === 'tasks' ? say`It is one for trajectories: add --run RUN.` : say`It is one for tasks: leave out --run.`;
  throw badInput(say`The format ${format} has no form for ${what}.`, other);
}

function report(
  options: ExportOptions,
  result: { readonly written: number; readonly leftOut: number; readonly folder: string; readonly main: string },
  what: string,
): void {
  if (options.json) return printJson({ format: options.format, what, ...result });
  print(printable(`${result.written} ${what} in ${path.join(result.folder, result.main)}`));
  if (result.leftOut > 0) {
    print(`${result.leftOut} were left out: ${options.format} only knows tasks whose bug was put in.`);
  }
}
