import path from 'node:path';
import { bubblewrapProblem } from '../../env/sandbox/bubblewrap.js';
import { loadTrainingSettings } from '../../trainer/run/settings.js';
import { unpackBundledRepository } from '../bundledRepository.js';
import { interruptible } from '../interrupt.js';
import { filled, jsonOption, wholeNumber, type AddCommand } from '../options.js';
import { print, printJson, quoted } from '../output.js';
import { reportLines, runTraining, summaryOf } from './train.js';

interface QuickstartOptions {
  readonly at: string;
  readonly steps?: number;
  readonly json?: boolean;
}

export const addQuickstartCommand: AddCommand = (program) => {
  program
    .command('quickstart')
    .description('train the embedded policy on a small bundled repository, to see all of it work')
    .option('--at <folder>', 'where the bundled repository goes', filled, 'whetstone-quickstart')
    .option('--steps <n>', 'training steps', wholeNumber)
    .addOption(jsonOption())
    .action((options: QuickstartOptions) => interruptible((signal) => quickstart(options, signal)));
};

async function quickstart(options: QuickstartOptions, signal: AbortSignal): Promise<void> {
  const folder = path.resolve(options.at);
  await unpackBundledRepository(folder, signal);
  const problem = await bubblewrapProblem();
  if (problem !== null) {
    // This repository is our own, so it may run without a sandbox; every trajectory of it is marked.
    process.stderr.write(
      `${problem.problem.message} ${problem.remedy.message}\nThe bundled repository is trusted: it runs UNCONFINED.\n`,
    );
  }
  const sandbox = problem === null ? 'bubblewrap' : 'unconfined';
  const settings = await loadTrainingSettings(folder, {
    sandbox,
    steps: options.steps,
  });
  const run = await runTraining(folder, settings, undefined, signal);
  if (options.json) return printJson(await summaryOf(run));
  for (const line of await reportLines(run)) print(line);
  print('Where to look next:');
  print(`  whetstone runs show ${run.id} --repo ${quoted(folder)}      every trajectory with its reward`);
  print(`  code ${quoted(folder)}      then the Whetstone view: trees, token masks, replay`);
  print('  whetstone train --repo PATH      the same on a repository of yours');
}
