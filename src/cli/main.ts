import { Command, CommanderError } from 'commander';
import { readFileSync } from 'node:fs';
import { addDevicesCommand } from './commands/devices.js';
import { addEvaluateCommand } from './commands/evaluate.js';
import { addGradeCommand } from './commands/grade.js';
import { addMaskCommand } from './commands/mask.js';
import { addQuickstartCommand } from './commands/quickstart.js';
import { addReplayCommand } from './commands/replay.js';
import { addRunsCommand } from './commands/runs.js';
import { addSimilarityCommand } from './commands/similarity.js';
import { addTasksCommand } from './commands/tasks.js';
import { addTrainCommand } from './commands/train.js';
import { describeError } from './output.js';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

const program = new Command('whetstone')
  .description('Sharpen a coding agent on your own repository.')
  .version(version)
  .showHelpAfterError('(see --help)')
  .exitOverride();
for (const add of [
  addTasksCommand,
  addTrainCommand,
  addEvaluateCommand,
  addGradeCommand,
  addSimilarityCommand,
  addRunsCommand,
  addReplayCommand,
  addMaskCommand,
  addDevicesCommand,
  addQuickstartCommand,
]) {
  add(program);
}

async function main(): Promise<void> {
  try {
    await program.parseAsync();
  } catch (error) {
    if (error instanceof CommanderError) {
      // Help and version are no errors; anything else that commander says is bad usage.
      process.exitCode = error.exitCode === 0 ? 0 : 2;
    } else {
      const { line, exitCode } = describeError(error);
      process.stderr.write(`whetstone: ${line}\n`);
      process.exitCode = exitCode;
    }
  }
}

void main();
