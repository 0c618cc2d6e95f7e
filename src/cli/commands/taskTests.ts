import { Option, type Command } from 'commander';
import { openEnvironment } from '../../env/openEnvironment.js';
import { runTestsOfTask, testedTrees, type TestedTask, type TestedTree } from '../../env/tasks/taskTests.js';
import { failed } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';
import { loadSettings } from '../../trainer/run/settings.js';
import { interruptible } from '../interrupt.js';
import { jsonOption, locateState, repoOption, sandboxOption, type SandboxOptions } from '../options.js';
import { print, printable, printJson, table } from '../output.js';
import { taskById } from '../tasks.js';

interface TestCommandOptions extends SandboxOptions {
  readonly tree: TestedTree;
  readonly only?: readonly string[];
}

/** `whetstone tasks test`. */
export function addTaskTestCommand(tasks: Command): void {
  tasks
    .command('test <task>')
    .description("run a task's tests, and say of each whether it ends as the task says that it must")
    .addOption(repoOption())
    .addOption(
      new Option(
        '--tree <tree>',
        'start: what episodes start from; oracle: the same with the oracle; current: a copy of your files',
      )
        .choices(testedTrees)
        .default('start'),
    )
    .addOption(new Option('--only <tests...>', 'ids of the tests; all of the task where not given'))
    .addOption(sandboxOption())
    .addOption(jsonOption())
    .action((task: string, options: TestCommandOptions) => interruptible((signal) => test(task, options, signal)));
}

async function test(id: string, options: TestCommandOptions, signal: AbortSignal): Promise<void> {
  const { repoRoot, stateFolder } = await locateState(options);
  const task = await taskById(stateFolder, id);
  const settings = await loadSettings(repoRoot, { sandbox: options.sandbox });
  const environment = await openEnvironment({ path: repoRoot, sandbox: settings.sandbox, signal });
  let tested: TestedTask;
  try {
    const { tree, only } = options;
    tested = await runTestsOfTask(environment, task, { tree, only, timeoutMs: 1000 * settings.testSeconds, signal });
  } finally {
    await environment.dispose();
  }
  if (options.json) printJson(tested);
  else printTested(tested);
  const wrong = tested.tests.filter(({ isAsItMustBe }) => !isAsItMustBe).length;
  if (wrong > 0) {
    const remedy =
      tested.outcome === 'completed' ? say`Their messages say why.` : say`The run of the tests: ${tested.outcome}.`;
    throw failed(say`${wrong} of ${tested.tests.length} tests do not end as they must.`, remedy);
  }
}

function printTested({ tests, output, outcome }: TestedTask): void {
  const rows = tests.map(({ id, list, status, isAsItMustBe }) => [id, list, status, isAsItMustBe ? 'yes' : 'NO']);
  print(printable(table(['test', 'list', 'result', 'as it must'], rows)));
  for (const { id, message } of tests)
    if (message !== '') print(printable(`\n${id}\n${message.replace(/^/gm, '    ')}`));
  if (outcome !== 'completed') print(printable(`\n${output}`));
}
