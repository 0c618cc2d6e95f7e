import { Argument, Option } from 'commander';
import { z } from 'zod';
import { openEnvironment } from '../../env/openEnvironment.js';
import { badInput } from '../../trajectory/errors.js';
import type { Message, ToolMessage } from '../../trajectory/message.js';
import type { Task } from '../../trajectory/task.js';
import type { Trajectory } from '../../trajectory/trajectory.js';
import { demonstrationsRunId, keepDemonstration } from '../../trainer/demonstrations/demonstrationsRun.js';
import { PersonEpisode } from '../../trainer/demonstrations/personEpisode.js';
import { branchPlans } from '../../trainer/rollout/branchPlans.js';
import type { EpisodePlan } from '../../trainer/rollout/episodePlan.js';
import { environmentArena, samplingOptions } from '../../trainer/rollout/environmentArena.js';
import { demonstrationPlans } from '../../trainer/rollout/plans.js';
import { openRun } from '../../trainer/run/runReader.js';
import { loadSettings } from '../../trainer/run/settings.js';
import { interruptible } from '../interrupt.js';
import {
  locateState,
  repoOption,
  sandboxOption,
  wholeNumber,
  type AddCommand,
  type SandboxOptions,
} from '../options.js';
import { answerRequests } from '../requestLines.js';
import { taskById } from '../tasks.js';
import { taskOfTrajectory } from './branch.js';

interface DemonstrateOptions extends SandboxOptions {
  readonly task?: string;
  readonly turn?: number;
}

const requestSchema = z.discriminatedUnion('method', [
  z.object({ id: z.int(), method: z.literal('open') }),
  z.object({
    id: z.int(),
    method: z.literal('act'),
    tool: z.string().min(1),
    arguments: z.record(z.string(), z.unknown()),
    thought: z.string().default(''),
  }),
]);

export const addDemonstrateCommand: AddCommand = (program) => {
  program
    .command('demonstrate')
    .description(
      'for programs: a person plays an episode, from the start of a task or behind a turn of a recorded trajectory, as requests ' +
        'on standard input say, each a line of JSON like its answer; what they did is kept as a demonstration',
    )
    .addArgument(new Argument('[run]', 'the run that recorded the trajectory'))
    .addArgument(new Argument('[trajectory]', 'the trajectory that is taken over'))
    .addOption(repoOption())
    .addOption(new Option('--task <id>', 'begin this task from its start instead'))
    .addOption(
      new Option('--turn <n>', 'the last turn that the person leaves as it was; 0: only the prompt').argParser(
        wholeNumber,
      ),
    )
    .addOption(sandboxOption())
    .action((run: string | undefined, trajectory: string | undefined, options: DemonstrateOptions) =>
      interruptible((signal) => demonstrate(run, trajectory, options, signal)),
    );
};

/** What is played: a task, and what of a recorded trajectory comes before the person has a say. */
interface Beginning {
  readonly task: Task;
  readonly plan: EpisodePlan;
  readonly takenOver: { readonly runId: string; readonly parent: Trajectory } | null;
}

/**
 * Requests and their answers:
 *
 *   {"id":1,"method":"open"}   {"task", "statement", "sandbox", "tools", "messages"}: what can be called, and what was said so far
 *   {"id":2,"method":"act","tool":"open","arguments":{"path":"a.js"},"thought":""}
 *       {"observations":[{"name","content"}], "end":null}; behind the last turn `end` is {"stopReason", "grade", "run", "trajectory"}
 *
 * The end of standard input gives the episode up; its worktree goes with it and nothing is kept.
 */
async function demonstrate(
  runId: string | undefined,
  trajectoryId: string | undefined,
  options: DemonstrateOptions,
  signal: AbortSignal,
): Promise<void> {
  const { repoRoot, stateFolder } = await locateState(options);
  const { task, plan, takenOver } = await beginningOf(stateFolder, runId, trajectoryId, options);
  const settings = await loadSettings(repoRoot, { sandbox: options.sandbox });
  const ended = new AbortController();
  process.stdin.once('end', () => ended.abort());
  const either = AbortSignal.any([signal, ended.signal]);
  const environment = await openEnvironment({ path: repoRoot, sandbox: settings.sandbox, signal: either });
  let episode: PersonEpisode | null = null;
  // A person looks around more than a policy is allowed to.
  const limits = { ...settings, maxTurns: settings.maxTurns + personTurns };
  const arena = environmentArena(environment, limits);
  const open = async () => {
    episode ??= await PersonEpisode.open(arena, plan, samplingOptions(settings, 'rollout'), either);
    const messages = (plan.prefix?.nodes ?? []).map(({ message }) => message);
    return {
      task: task.instance_id,
      statement: task.problem_statement,
      sandbox: environment.sandbox,
      tools: episode.tools.map((tool) => tool.function),
      messages: messages.map(shownMessage),
    };
  };
  const keep = async (trajectory: Trajectory) => {
    const { stopReason, grade, infrastructureError, infrastructurePhrase } = trajectory;
    const end = { stopReason, grade, infrastructureError, infrastructurePhrase };
    // What the machine failed shows nobody anything.
    if (infrastructureError !== null) return { ...end, run: null, trajectory: null };
    const config = {
      repoRoot,
      headCommit: task.base_commit,
      settings: { ...settings, steps: 0 },
      sandbox: arena.sandbox,
    };
    const id = await keepDemonstration(stateFolder, config, { trajectory, task, takenOver });
    return { ...end, run: demonstrationsRunId, trajectory: id };
  };
  try {
    const answer = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`);
    await answerRequests(
      process.stdin,
      requestSchema,
      answer,
      async (request) => {
        if (request.method === 'open') return open();
        if (episode === null) throw badInput('Nothing is open.', 'Ask to `open` first.');
        const { observations, trajectory } = await episode.act(request);
        const end = trajectory === null ? null : await keep(trajectory);
        return { observations: observations.map(shownMessage), end };
      },
      either,
    );
  } finally {
    ended.abort();
    await environment.dispose();
  }
}

/** Turns that a person has beside those of a policy. */
const personTurns = 200;

async function beginningOf(
  stateFolder: string,
  runId: string | undefined,
  trajectoryId: string | undefined,
  { task: taskId, turn }: DemonstrateOptions,
): Promise<Beginning> {
  if (taskId !== undefined) {
    if (runId !== undefined || turn !== undefined)
      throw badInput('--task begins from the start of a task.', 'Leave out the run and --turn, or --task.');
    const task = await taskById(stateFolder, taskId);
    return { task, plan: demonstrationPlans([task])[0]!, takenOver: null };
  }
  if (runId === undefined || trajectoryId === undefined || turn === undefined)
    throw badInput('It is not said what is demonstrated.', 'Give --task ID, or RUN TRAJECTORY --turn N.');
  const run = openRun(stateFolder, runId);
  const parent = await run.trajectory(trajectoryId);
  const task = await taskOfTrajectory(run, parent);
  const numbers = { seed: (await run.config()).settings.seed, takenIds: new Set<string>(), firstSample: 0 };
  const [branch] = branchPlans(parent, task, turn, 1, 'person', numbers);
  return { task, plan: { ...branch!, kind: 'demonstration', step: 0 }, takenOver: { runId, parent } };
}

function shownMessage(message: Message | ToolMessage) {
  switch (message.role) {
    case 'assistant':
      return {
        role: message.role,
        thought: message.thinking ?? '',
        calls: message.toolCalls,
        content: message.content,
      };
    case 'tool':
      return { role: message.role, name: message.name, content: message.content };
    default:
      return { role: message.role, content: message.content };
  }
}
