import { Option, type Command } from 'commander';
import { existsSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { openEnvironment } from '../../env/openEnvironment.js';
import { explainFileError } from '../../env/repo/git.js';
import { openRepository, type Repository } from '../../env/repo/repository.js';
import { readTasks, writeTasks } from '../../env/tasks/taskStore.js';
import { importRun } from '../../interop/import/importRun.js';
import { importTasks } from '../../interop/import/importTasks.js';
import { takeObjects } from '../../interop/import/takeObjects.js';
import { readForeignCurves, type ForeignCurves } from '../../interop/readers/curves.js';
import { readForeignTasks, type ForeignTask } from '../../interop/readers/tasks.js';
import { readForeignTrajectories, type ForeignFile } from '../../interop/readers/readTrajectories.js';
import { loadSettings } from '../../trainer/run/settings.js';
import { badInput, failed, WhetstoneError } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';
import type { Task } from '../../trajectory/task.js';
import { interruptible } from '../interrupt.js';
import {
  filled,
  jsonOption,
  locateState,
  repoOption,
  sandboxOption,
  type AddCommand,
  type RepoOptions,
  type SandboxOptions,
} from '../options.js';
import { print, printable, printJson, ProgressLine } from '../output.js';

/** Longest file that is read: a string holds no more. */
const maxFileBytes = 500 * 1024 * 1024;

/** Adds `runs import` and `tasks import`; the commands that they belong to are there already. */
export const addImportCommands: AddCommand = (program) => {
  groupOf(program, 'runs')
    .command('import <file...>')
    .description(
      "record other systems' trajectories (verifiers, SWE-agent, mini-swe-agent, OpenAI, Inspect, verl) as a run, with the curves " +
        'of their training (trainer_state.json of TRL and transformers, the file logger of verl)',
    )
    .addOption(repoOption())
    .addOption(
      new Option(
        '--model <folder>',
        'the model whose tokenizer made the token ids; without it they are left out',
      ).argParser(filled),
    )
    .addOption(jsonOption())
    .action(importRunCommand);
  groupOf(program, 'tasks')
    .command('import <path...>')
    .description('take tasks of SWE-bench, SWE-smith or Harbor for this repository; each is tried before it is kept')
    .addOption(repoOption())
    .addOption(sandboxOption())
    .addOption(jsonOption())
    .action((paths: string[], options: SandboxOptions) =>
      interruptible((signal) => importTasksCommand(paths, options, signal)),
    );
};

function groupOf(program: Command, name: string): Command {
  const group = program.commands.find((command) => command.name() === name);
  if (group === undefined) throw new Error(`internal: there is no command ${name} yet`);
  return group;
}

async function importRunCommand(files: string[], options: RepoOptions & { model?: string }): Promise<void> {
  const { repoRoot, stateFolder } = await locateState(options);
  const model = options.model === undefined ? null : path.resolve(options.model);
  if (model !== null && !existsSync(path.join(model, 'tokenizer.json'))) {
    throw badInput(say`${model} holds no tokenizer.json.`, 'Name the folder of the model that played.');
  }
  const trajectories: ForeignFile[] = [];
  const curves: ForeignCurves[] = [];
  for (const file of files) {
    const [bytes, name] = [await readBounded(file), path.basename(file)];
    const found = readForeignCurves(new TextDecoder().decode(bytes), name);
    if (found) curves.push(found);
    else trajectories.push(readForeignTrajectories(bytes, name));
  }
  const { headCommit } = await openRepository(repoRoot);
  const imported = await importRun(trajectories, curves, { repoRoot, stateFolder, headCommit, model, now: new Date() });
  if (options.json) return printJson(imported);
  print(
    `Run ${imported.runId}: ${imported.trajectories} trajectories, ${imported.steps} steps. See \`whetstone runs show ${imported.runId}\`.`,
  );
  if (imported.withoutTokens > 0) {
    print(`${imported.withoutTokens} of them hold token ids, which were left out: name their tokenizer with --model.`);
  }
}

async function importTasksCommand(paths: string[], options: SandboxOptions, signal: AbortSignal): Promise<void> {
  const { repoRoot, stateFolder } = await locateState(options);
  const repository = await openRepository(repoRoot);
  const candidates: (ForeignTask | Task)[] = [];
  for (const given of paths) candidates.push(...(await tasksAt(given, repository, signal)));
  const settings = await loadSettings(repoRoot, { sandbox: options.sandbox });
  const environment = await openEnvironment({ path: repoRoot, sandbox: settings.sandbox, signal });
  const progress = new ProgressLine();
  try {
    const { tasks, refused } = await importTasks(environment, candidates, {
      timeoutMs: 1000 * settings.testSeconds,
      signal,
      onProgress: (done, message) => progress.update(say`${done} of ${candidates.length} tasks tried. ${message}`),
    });
    progress.clear();
    if (tasks.length > 0) await store(await storedWith(tasks, stateFolder), stateFolder);
    const kept = tasks.map(({ instance_id }) => instance_id);
    if (options.json) printJson({ kept, refused });
    else {
      print(`${kept.length} of ${kept.length + refused.length} tasks are kept. See \`whetstone tasks list\`.`);
      for (const { instanceId, reason } of refused) print(printable(`  ${instanceId}: ${reason}`));
    }
    if (kept.length === 0) throw failed('No task was taken.', 'The reasons stand above.');
  } finally {
    progress.clear();
    await environment.dispose();
  }
}

/**
 * The tasks of a file of rows, of a folder that `whetstone export` wrote, or of a Harbor task: one of ours, or one of
 * SWE-bench, whose row lies among its tests.
 */
async function tasksAt(
  given: string,
  repository: Repository,
  signal: AbortSignal,
): Promise<readonly (ForeignTask | Task)[]> {
  if (!(await isFolder(given))) {
    const sibling = path.join(path.dirname(given), 'repository.git');
    if (existsSync(sibling)) await takeObjects(repository, path.resolve(sibling), signal);
    const text = (await readBounded(given)).toString('utf8');
    return readForeignTasks(text, path.basename(given));
  }
  const at = (...names: string[]) => path.join(given, ...names);
  if (existsSync(at('tasks.jsonl'))) return tasksAt(at('tasks.jsonl'), repository, signal);
  if (!existsSync(at('task.toml'))) {
    const names = (await readdir(given)).filter((name) => existsSync(at(name, 'task.toml')));
    if (names.length === 0) {
      throw badInput(
        say`${given} holds neither a tasks.jsonl nor a task.toml.`,
        'Name a file of rows or a task of Harbor.',
      );
    }
    const found: (ForeignTask | Task)[] = [];
    for (const name of names.sort()) found.push(...(await tasksAt(at(name), repository, signal)));
    return found;
  }
  if (existsSync(at('tests', 'state'))) {
    await takeObjects(repository, path.resolve(at('tests', 'task.bundle')), signal);
    return readTasks(at('tests', 'state'));
  }
  if (existsSync(at('tests', 'config.json'))) {
    const text = (await readBounded(at('tests', 'config.json'))).toString('utf8');
    return readForeignTasks(text, `${path.basename(given)}/tests/config.json`);
  }
  throw badInput(
    say`${given}: this task of Harbor says only how to run its tests in its own container, not which tests they are.`,
    'Play it with Harbor, and look at the trajectories with `whetstone runs import`.',
  );
}

const isFolder = (name: string) =>
  stat(name).then(
    (found) => found.isDirectory(),
    () => false,
  );

async function readBounded(file: string): Promise<Buffer> {
  const found = await stat(file).catch((error: NodeJS.ErrnoException) => {
    throw badInput(say`${file} cannot be read (${String(error.code)}).`, 'Name a file that is there.', error);
  });
  if (!found.isFile()) throw badInput(say`${file} is no file.`, 'Name a file.');
  if (found.size > maxFileBytes) {
    throw badInput(say`${file} has ${found.size} bytes, more than ${maxFileBytes}.`, 'Divide it by lines.');
  }
  return readFile(file).catch((error: unknown) => {
    throw explainFileError(error, 'read', file);
  });
}

/** The stored tasks with these; one of the same id is replaced. */
async function storedWith(taken: readonly Task[], stateFolder: string): Promise<Task[]> {
  const stored = await readTasks(stateFolder).catch((error: unknown) => {
    if (error instanceof WhetstoneError && error.kind === 'bad-input') return [];
    throw error;
  });
  const all = new Map([...stored, ...taken].map((task) => [task.instance_id, task]));
  return [...all.values()];
}

function store(tasks: readonly Task[], stateFolder: string): Promise<void> {
  const funnel = { found: tasks.length, skipped: {}, invalid: {}, flaky: 0, kept: tasks.length, sources: {} };
  const notes = ['Tasks were imported; `whetstone tasks build` would replace them.'];
  return writeTasks(stateFolder, 'imported', { tasks, funnel, quarantined: [], notes });
}
