import { failureOf } from '../../env/tools/failure.js';
import { isTurn } from '../../trajectory/message.js';
import type { Task } from '../../trajectory/task.js';
import type { Trajectory } from '../../trajectory/trajectory.js';
import { passAtK } from '../algorithm/passAtK.js';
import { meanOf, rewriteMetrics } from '../algorithm/stepMetrics.js';
import { measurePatch } from './patchMeasures.js';

/** Whether each episode of a task solved it, in the order of the samples; null where the machine failed. */
export interface TaskOutcomes {
  readonly taskId: string;
  readonly solved: readonly (boolean | null)[];
}

export function outcomesByTask(trajectories: readonly Trajectory[]): TaskOutcomes[] {
  const byTask = new Map<string, (boolean | null)[]>();
  for (const { taskId, sample, grade } of trajectories) {
    const solved = byTask.get(taskId) ?? [];
    byTask.set(taskId, solved);
    solved[sample] = grade === null ? null : grade.resolved;
  }
  return [...byTask].map(([taskId, solved]) => ({ taskId, solved }));
}

/** pass@k for k = 1, 2, 4, ... up to the episodes of a task, averaged over the tasks with at least k graded ones. */
export function passRates(outcomes: readonly TaskOutcomes[]): Record<string, number> {
  const most = Math.max(0, ...outcomes.map(({ solved }) => solved.length));
  const ks = Array.from({ length: 20 }, (_, power) => 2 ** power).filter((k) => k <= most);
  if (most > 0 && !ks.includes(most)) ks.push(most);
  return Object.fromEntries(
    ks.flatMap((k) => {
      const rates = outcomes.flatMap(({ solved }) => {
        const graded = solved.filter((one) => one !== null);
        const rate = passAtK(graded.length, graded.filter(Boolean).length, k);
        return rate === null ? [] : [rate];
      });
      return rates.length === 0 ? [] : [[String(k), meanOf(rates)] as const];
    }),
  );
}

/** Components of the reward that are told as the share of episodes in which they happened. */
const misconduct = ['securityProblems', 'lintErrors', 'manyFiles', 'testsNeverRun'];

/**
 * What an evaluation measures beside success (requirement T14), over the episodes that the machine did not fail. Rates are in
 * [0, 1]; a rate of nothing is absent.
 */
export function evaluationMetrics(
  trajectories: readonly Trajectory[],
  tasks: ReadonlyMap<string, Pick<Task, 'patch'>>,
): Record<string, number> {
  const graded = trajectories.filter(({ grade }) => grade !== null);
  const statistics = graded.map((trajectory) => trajectory.statistics);
  const calls = statistics.map(
    ({ validCalls, malformedCalls, unknownTools, invalidArguments }) =>
      validCalls + malformedCalls + unknownTools + invalidArguments,
  );
  const valid = sum(statistics.map(({ validCalls }) => validCalls));
  const recoveries = graded.flatMap(recoveriesOf);
  const patches = graded.flatMap(({ taskId, patch }) => {
    const oracle = tasks.get(taskId)?.patch;
    return patch === '' || oracle === undefined ? [] : [comparedWithOracle(patch, oracle)];
  });
  const scoresOf = (name: string) => graded.flatMap(({ grade }) => grade!.components[name]?.score ?? []);
  const earned = new Set(graded.flatMap(({ grade }) => Object.keys(grade!.components)));
  for (const name of [...misconduct, 'dangerousCommands']) earned.delete(name);
  return {
    episodes: graded.length,
    infrastructure_failures: trajectories.length - graded.length,
    ...Object.fromEntries([...earned].map((name) => [`rewards/${name}/mean`, meanOf(scoresOf(name))])),
    'steps/mean': meanOf(statistics.map(({ turns }) => turns)),
    ...rate('tools/accuracy', valid, sum(calls)),
    ...rewriteMetrics(graded),
    'tools/calls': meanOf(calls),
    ...rate('tools/recovery', recoveries.filter(Boolean).length, recoveries.length),
    'cost/sampled_tokens': meanOf(statistics.map(({ sampledTokens }) => sampledTokens)),
    'cost/total_tokens': meanOf(statistics.map(({ totalTokens }) => totalTokens)),
    'cost/seconds': meanOf(statistics.map(({ seconds }) => seconds)),
    'safety/dangerous_commands': meanOf(statistics.map(({ dangerousCommands = [] }) => dangerousCommands.length)),
    ...Object.fromEntries(
      misconduct.flatMap((name) => {
        const scores = scoresOf(name);
        return scores.length === 0 ? [] : [[`conduct/${name}`, meanOf(scores.map((score) => (score < 0 ? 1 : 0)))]];
      }),
    ),
    ...(patches.length > 0 && {
      'patch/lines_of_oracle': meanOf(patches.map(({ lines }) => lines)),
      'patch/unrelated_files': meanOf(patches.map(({ unrelated }) => unrelated)),
      'patch/untidy_lines': meanOf(patches.map(({ untidy }) => untidy)),
    }),
    'patch/none': graded.length === 0 ? 0 : graded.filter(({ patch }) => patch === '').length / graded.length,
    // By what can be played and not by a count: no player of an evaluation is a person, none of its tools asks one, and an episode
    // that somebody takes over becomes a demonstration of another run (demonstrate.test.ts).
    human_interventions: 0,
  };
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
const rate = (name: string, of: number, all: number): Record<string, number> => (all === 0 ? {} : { [name]: of / all });

/** For each failed call, whether the next turn's calls all went well. Failing tests are news, not a failed call. */
function recoveriesOf({ nodes }: Trajectory): boolean[] {
  const turns: boolean[] = [];
  for (const { message } of nodes) {
    if (isTurn(message)) turns.push(true);
    const isFailure = message.role === 'tool' && message.name !== 'run_tests' && failureOf(message) !== null;
    if (isFailure && turns.length > 0) turns[turns.length - 1] = false;
  }
  return turns.flatMap((wentWell, turn) => (wentWell ? [] : [turns[turn + 1] ?? false]));
}

function comparedWithOracle(patch: string, oracle: string) {
  const [own, wanted] = [measurePatch(patch), measurePatch(oracle)];
  return {
    lines: own.changedLines / Math.max(1, wanted.changedLines),
    unrelated: own.files.filter((file) => !wanted.files.includes(file)).length,
    untidy: own.untidyLines,
  };
}
