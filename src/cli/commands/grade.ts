import { gradePatch } from '../../env/grade.js';
import { openEnvironment } from '../../env/openEnvironment.js';
import { taskById } from '../tasks.js';
import { loadSettings } from '../../trainer/run/settings.js';
import { interruptible } from '../interrupt.js';
import {
  jsonOption,
  locateState,
  repoOption,
  sandboxOption,
  type AddCommand,
  type SandboxOptions,
} from '../options.js';
import { print, printable, printJson, table } from '../output.js';
import { readText } from './similarity.js';

interface GradeCommandOptions extends SandboxOptions {
  readonly task: string;
  readonly patch: string;
}

export const addGradeCommand: AddCommand = (program) => {
  program
    .command('grade')
    .description('grade a patch against a task: every component of the reward, every test, every file')
    .addOption(repoOption())
    .requiredOption('--task <id>', 'instance id of the task')
    .requiredOption(
      '--patch <file>',
      "the patch, a unified diff against the task's tree; an empty file changes nothing",
    )
    .addOption(sandboxOption())
    .addOption(jsonOption())
    .action((options: GradeCommandOptions) => interruptible((signal) => grade(options, signal)));
};

async function grade(options: GradeCommandOptions, signal: AbortSignal): Promise<void> {
  const patch = await readText(options.patch);
  const { repoRoot, stateFolder } = await locateState(options);
  const task = await taskById(stateFolder, options.task);
  const settings = await loadSettings(repoRoot, { sandbox: options.sandbox });
  const environment = await openEnvironment({ path: repoRoot, sandbox: settings.sandbox, signal });
  try {
    const result = await gradePatch(environment, task, patch, {
      statistics: null,
      weights: settings.reward,
      timeoutMs: 1000 * settings.testSeconds,
      signal,
    });
    if (options.json) return printJson(result);
    print(`reward ${result.reward.toFixed(4)}, ${result.resolved ? 'resolved' : 'not resolved'}\n`);
    const components = Object.entries(result.components);
    print(
      table(
        ['component', 'score', 'weight', 'reason'],
        components.map(([name, { score, weight, reason }]) => [
          name,
          score.toFixed(4),
          String(weight),
          printable(reason ?? ''),
        ]),
      ),
    );
    if (result.files.length > 0)
      print(
        `\n${table(
          ['file', 'similarity', 'reason'],
          result.files.map(({ path, ratio, reason }) => [printable(path), ratio.toFixed(4), reason ?? '']),
        )}`,
      );
    print(
      `\n${table(
        ['test', 'before', 'after'],
        result.tests.map(({ id, before, after }) => [printable(id), before, after]),
      )}`,
    );
  } finally {
    await environment.dispose();
  }
}
