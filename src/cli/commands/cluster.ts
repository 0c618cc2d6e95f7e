import { Option } from 'commander';
import path from 'node:path';
import { openRepository } from '../../env/repo/repository.js';
import { engines, writeProject, type Engine } from '../../interop/cluster/writeProject.js';
import { loadSettings } from '../../trainer/run/settings.js';
import { interruptible } from '../interrupt.js';
import { filled, jsonOption, locateState, repoOption, type AddCommand, type RepoOptions } from '../options.js';
import { print, printable, printJson } from '../output.js';

interface InitOptions extends RepoOptions {
  readonly engine: Engine;
  readonly model: string;
  readonly out: string;
}

export const addClusterCommand: AddCommand = (program) => {
  program
    .command('cluster')
    .description('train on these tasks with an engine that spans machines')
    .command('init')
    .description(
      'write a project for the engine: prompts, tools, rewards, settings, and the image that serves the tasks',
    )
    .addOption(repoOption())
    .addOption(new Option('--engine <engine>', 'which engine').choices(engines).makeOptionMandatory())
    .addOption(
      new Option('--model <name>', "the policy there: a model's name on the hub, or a folder")
        .argParser(filled)
        .default('Qwen/Qwen3-0.6B'),
    )
    .addOption(new Option('--out <folder>', 'a new folder to write').argParser(filled).makeOptionMandatory())
    .addOption(jsonOption())
    .action((options: InitOptions) => interruptible((signal) => init(options, signal)));
};

async function init(options: InitOptions, signal: AbortSignal): Promise<void> {
  const { repoRoot } = await locateState(options);
  const target = path.resolve(options.out);
  const settings = await loadSettings(repoRoot);
  const tasks = await writeProject(
    options.engine,
    await openRepository(repoRoot),
    settings,
    options.model,
    target,
    signal,
  );
  if (options.json) return printJson({ engine: options.engine, tasks, folder: target });
  print(printable(`A project for ${options.engine} with ${tasks} tasks: ${target}. Read its README.md.`));
}
