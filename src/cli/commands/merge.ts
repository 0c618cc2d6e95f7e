import { Option } from 'commander';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { saveCheckpoint } from '../../trainer/model/checkpoint.js';
import { loadModel, merged } from '../../trainer/model/loadModel.js';
import type { StoredDtype } from '../../trainer/model/safetensors.js';
import { badInput } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';
import { filled, jsonOption, locateState, modelOption, modelPath, repoOption, type AddCommand } from '../options.js';
import type { RepoOptions } from '../options.js';
import { print, printJson } from '../output.js';
import { checkpointOf } from '../players.js';

interface MergeOptions extends RepoOptions {
  readonly model?: string;
  readonly run?: string;
  readonly output: string;
  readonly dtype: StoredDtype;
}

export const addMergeCommand: AddCommand = (program) => {
  program
    .command('merge')
    .description('write an adapter and its model as one model in Hugging Face layout')
    .addOption(repoOption())
    .addOption(modelOption())
    .addOption(
      new Option('--run <run[:step]>', "a run's checkpoint; the last one where no step is given").conflicts('model'),
    )
    .addOption(new Option('--output <folder>', 'a new folder').argParser(filled).makeOptionMandatory())
    .addOption(
      new Option('--dtype <type>', 'how the weights are stored').choices(['F32', 'F16', 'BF16']).default('F32'),
    )
    .addOption(jsonOption())
    .action(merge);
};

async function merge(options: MergeOptions): Promise<void> {
  const model = options.run === undefined ? modelPath(options.model) : await checkpointOfRun(options, options.run);
  if (model === undefined) throw badInput('There is nothing to merge.', 'Give --model or --run.');
  const output = path.resolve(options.output);
  if (existsSync(output)) throw badInput(say`'${output}' exists already.`, 'Name a new folder.');
  const { config, parameters, folder } = merged(await loadModel(model));
  await saveCheckpoint(output, { config, parameters, sourceFolder: folder, dtype: options.dtype });
  if (options.json) printJson({ folder: output });
  else print(`The model is in '${output}'.`);
}

async function checkpointOfRun(options: RepoOptions, run: string): Promise<string> {
  const { stateFolder } = await locateState(options);
  return checkpointOf(stateFolder, run);
}
