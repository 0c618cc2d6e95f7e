import { Option } from 'commander';
import type { RepositoryEnvironment } from '../../env/environment.js';
import { openEnvironment } from '../../env/openEnvironment.js';
import { buildTasks, defaultBuildOptions } from '../../env/tasks/buildTasks.js';
import { funnelTable } from '../../env/tasks/funnel.js';
import { dropTasks } from '../../env/tasks/dropTasks.js';
import { readExclusions, type Exclusions } from '../../env/tasks/excludedTasks.js';
import { readBuilt, readTasks, type BuiltTasks } from '../../env/tasks/taskStore.js';
import { verifyTasks, type TaskVerification } from '../../env/tasks/verifyTasks.js';
import { badInput, failed } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';
import type { TaskSource } from '../../trajectory/task.js';
import { loadSettings } from '../../trainer/run/settings.js';
import { interruptible } from '../interrupt.js';
import {
  countFromOne,
  jsonOption,
  locateState,
  repoOption,
  sandboxOption,
  wholeNumber,
  type AddCommand,
  type RepoOptions,
  type SandboxOptions,
} from '../options.js';
import { print, printable, printJson, ProgressLine, table } from '../output.js';
import { taskById } from '../tasks.js';
import { addTaskExclusionCommands } from './taskExclusions.js';
import { addTaskTestCommand } from './taskTests.js';

interface BuildCommandOptions extends SandboxOptions {
  readonly source: string;
  readonly limit: number;
  readonly seed: number;
  readonly runs: number;
  readonly commits: number;
  readonly maxSeconds?: number;
  readonly testSeconds: number;
}

export const addTasksCommand: AddCommand = (program) => {
  const tasks = program.command('tasks').description('the tasks made of this repository');
  tasks
    .command('build')
    .description('make tasks by injecting bugs and from the history; each is tried before it is kept')
    .addOption(repoOption())
    .option('--source <sources>', 'history, injection, or both with a comma', defaultBuildOptions.sources.join(','))
    .option('--limit <n>', 'tasks wanted at most', countFromOne, defaultBuildOptions.limit)
    .option('--seed <n>', 'the choice of candidates is derived from this', wholeNumber, defaultBuildOptions.seed)
    .option('--runs <n>', "how often each tree's tests are run", countFromOne, defaultBuildOptions.validationRuns)
    .option('--commits <n>', 'commits of the history looked at', countFromOne, defaultBuildOptions.historyLimit)
    .option(
      '--test-seconds <n>',
      'for one run of all tests; of a suite that takes longer, the test files that end in time are used',
      countFromOne,
      defaultBuildOptions.testTimeoutMs / 1000,
    )
    .option('--max-seconds <n>', 'end the search after this time with what was found', wholeNumber)
    .addOption(sandboxOption())
    .addOption(jsonOption())
    .action((options: BuildCommandOptions) => interruptible((signal) => build(options, signal)));
  tasks.command('list').description('the stored tasks').addOption(repoOption()).addOption(jsonOption()).action(list);
  tasks
    .command('show <task>')
    .description('one task: statement, tests, oracle')
    .addOption(repoOption())
    .addOption(jsonOption())
    .action(show);
  tasks
    .command('verify')
    .description(
      'try the oracle, rewrites of it and every exploit against each task; drop the tasks that can be cheated',
    )
    .addOption(repoOption())
    .addOption(new Option('--task <id>', 'only this task'))
    .addOption(sandboxOption())
    .addOption(jsonOption())
    .action((options: SandboxOptions & { task?: string }) => interruptible((signal) => verify(options, signal)));
  addTaskTestCommand(tasks);
  addTaskExclusionCommands(tasks);
};

async function build(options: BuildCommandOptions, signal: AbortSignal): Promise<void> {
  const sources = parseSources(options.source);
  await withEnvironment(options, signal, async (environment) => {
    const progress = new ProgressLine();
    try {
      const built = await buildTasks(
        environment,
        {
          ...defaultBuildOptions,
          sources,
          limit: options.limit,
          seed: options.seed,
          validationRuns: options.runs,
          historyLimit: options.commits,
          testTimeoutMs: 1000 * options.testSeconds,
          maxSeconds: options.maxSeconds ?? null,
        },
        {
          signal,
          onProgress: ({ said, kept, total, tried }) =>
            progress.update(
              // Before a candidate is tried, what is done first is all there is to say.
              tried === 0 ? said : say`${kept} of at most ${total} tasks, ${tried} candidates tried. ${said}`,
            ),
        },
      );
      progress.clear();
      printBuilt(built, await readExclusions(environment.stateFolder), options);
    } finally {
      progress.clear();
    }
  });
}

function parseSources(text: string): TaskSource[] {
  const sources = text.split(',').map((source) => source.trim());
  const isSource = (source: string): source is TaskSource => source === 'history' || source === 'injection';
  if (!sources.every(isSource))
    throw badInput(say`--source ${JSON.stringify(text)} is unknown.`, 'Give history, injection, or history,injection.');
  return sources;
}

function printBuilt(built: BuiltTasks, excluded: Exclusions, options: RepoOptions): void {
  const { tasks, funnel, quarantined, notes } = built;
  if (options.json) return printJson({ tasks, funnel, quarantined, notes, excluded: [...excluded.values()] });
  print(
    printable(
      table(
        ['task', 'split', 'source', 'fails', 'passes'],
        tasks.map((task) => [
          task.instance_id,
          task.whetstone.split,
          task.whetstone.operator ?? task.whetstone.source,
          String(task.FAIL_TO_PASS.length),
          String(task.PASS_TO_PASS.length),
        ]),
      ),
    ),
  );
  print();
  const { header, rows } = funnelTable(funnel);
  print(printable(table(header, rows)));
  if (quarantined.length > 0) {
    print(`\n${quarantined.length} tests are not graded by, since they do not give the same result each time:`);
    for (const test of quarantined) print(printable(`  ${test}`));
  }
  const leftOut = tasks.flatMap(({ instance_id }) => {
    const exclusion = excluded.get(instance_id);
    return exclusion === undefined ? [] : [`  ${instance_id}${exclusion.reason === '' ? '' : `: ${exclusion.reason}`}`];
  });
  if (leftOut.length > 0) {
    print(`\n${leftOut.length} tasks are excluded from training and evaluation:`);
    for (const line of leftOut) print(printable(line));
  }
  if (notes.length > 0) print();
  for (const note of notes) print(printable(note));
}

async function list(options: RepoOptions): Promise<void> {
  const { stateFolder } = await locateState(options);
  printBuilt(await readBuilt(stateFolder), await readExclusions(stateFolder), options);
}

async function show(id: string, options: RepoOptions): Promise<void> {
  const { stateFolder } = await locateState(options);
  const task = await taskById(stateFolder, id);
  if (options.json) return printJson(task);
  print(
    printable(
      `${task.instance_id} (${task.whetstone.split}, ${task.whetstone.operator ?? task.whetstone.source})\n\n${task.problem_statement}\n`,
    ),
  );
  print(
    printable(
      `FAIL_TO_PASS\n${task.FAIL_TO_PASS.map((test) => `  ${test}`).join('\n')}\nPASS_TO_PASS\n${task.PASS_TO_PASS.map((test) => `  ${test}`).join('\n')}\n`,
    ),
  );
  print(printable(`Oracle\n${task.patch}`));
}

async function verify(options: SandboxOptions & { task?: string }, signal: AbortSignal): Promise<void> {
  const { stateFolder } = await locateState(options);
  const tasks = options.task === undefined ? await readTasks(stateFolder) : [await taskById(stateFolder, options.task)];
  await withEnvironment(options, signal, async (environment) => {
    const progress = new ProgressLine();
    const verified = await verifyTasks(environment, tasks, {
      signal,
      onProgress: ({ done, total, said }) => progress.update(say`${done} of ${total} tasks. ${said}`),
    });
    progress.clear();
    await dropTasks(stateFolder, verified);
    if (options.json) printJson({ tasks: verified });
    else printVerified(verified);
    const cheated = verified.filter(({ failures }) => failures.length > 0);
    if (cheated.length > 0) {
      const failure = say`${cheated.length} of ${verified.length} tasks can be cheated or are broken.`;
      throw failed(failure, 'They were dropped; `whetstone tasks list` says why.');
    }
  });
}

function printVerified(verified: readonly TaskVerification[]): void {
  const rows = verified.map((one) => [
    one.instance_id,
    String(one.tried),
    String(one.caught),
    one.checks
      .filter(({ isAsItMustBe }) => !isAsItMustBe)
      .map(({ name, reason }) => `${name} (${reason})`)
      .join('; '),
  ]);
  print(printable(table(['task', 'tried', 'caught', 'failures'], rows)));
  const skipped = new Set(verified.flatMap((one) => one.skipped));
  if (skipped.size > 0)
    print(`\n${skipped.size} exploits need a sandbox and were left out: ${[...skipped].join('; ')}`);
}

async function withEnvironment(
  options: SandboxOptions,
  signal: AbortSignal,
  work: (environment: RepositoryEnvironment) => Promise<void>,
): Promise<void> {
  const { repoRoot } = await locateState(options);
  const settings = await loadSettings(repoRoot, { sandbox: options.sandbox });
  const environment = await openEnvironment({ path: repoRoot, sandbox: settings.sandbox, signal });
  try {
    await work(environment);
  } finally {
    await environment.dispose();
  }
}
