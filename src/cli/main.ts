import { Command, CommanderError } from 'commander';
import { addBranchCommand } from './commands/branch.js';
import { addClusterCommand } from './commands/cluster.js';
import { addDemonstrateCommand } from './commands/demonstrate.js';
import { addDevicesCommand } from './commands/devices.js';
import { addDoctorCommand } from './commands/doctor.js';
import { addEvaluateCommand } from './commands/evaluate.js';
import { addExportCommand } from './commands/export.js';
import { addGradeCommand } from './commands/grade.js';
import { addImportCommands } from './commands/import.js';
import { addMaskCommand } from './commands/mask.js';
import { addMergeCommand } from './commands/merge.js';
import { addQuickstartCommand } from './commands/quickstart.js';
import { addReplayCommand } from './commands/replay.js';
import { addRunsCommand } from './commands/runs.js';
import { addServeCommand } from './commands/serve.js';
import { addSimilarityCommand } from './commands/similarity.js';
import { addTasksCommand } from './commands/tasks.js';
import { addTrainCommand } from './commands/train.js';
import { complain, describeError } from './output.js';
import { version } from './version.js';

const program = new Command('whetstone')
  .description('Sharpen a coding agent on your own repository.')
  .version(version)
  // What is wrong with the usage is said below, in one line like every other error.
  .configureOutput({ outputError: () => undefined })
  .exitOverride();
for (const add of [
  addTasksCommand,
  addTrainCommand,
  addEvaluateCommand,
  addMergeCommand,
  addGradeCommand,
  addSimilarityCommand,
  addRunsCommand,
  addReplayCommand,
  addDemonstrateCommand,
  addBranchCommand,
  addMaskCommand,
  addDoctorCommand,
  addDevicesCommand,
  addQuickstartCommand,
  addExportCommand,
  addImportCommands,
  addServeCommand,
  addClusterCommand,
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
      if (error.exitCode !== 0 && error.code !== 'commander.help') complain({ message: usageLine(error.message) });
    } else {
      const { said, exitCode } = describeError(error);
      complain(said);
      process.exitCode = exitCode;
    }
  }
}

/** Commander's message on one line, and where to read on: in the help of the command that was meant. */
function usageLine(message: string): string {
  const meant = [program.name()];
  let command: Command | undefined = program;
  for (const word of process.argv.slice(2)) {
    command = command.commands.find((candidate) => candidate.name() === word);
    if (command === undefined) break;
    meant.push(word);
  }
  const what = message.replace(/^error: /, '').replace(/\s*\n\s*/g, ' ');
  return `${what.replace(/\.?$/, '.')} See \`${meant.join(' ')} --help\`.`;
}

// Who reads may have had enough (`| head`): the rest is lost on nobody.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

void main();
