import { deriveSeed } from '../rollout/seeds.js';
import type { Settings } from '../run/settings.js';

/** How a group of a task went, as the record of its step tells. */
export interface GroupOutcome {
  readonly step: number;
  readonly taskId: string;
  /** Rollouts that the machine did not fail, and those of them that solved the task. */
  readonly played: number;
  readonly resolved: number;
}

/** A task in the order in which a step would play it, and why it stands there. */
export interface RankedTask {
  readonly taskId: string;
  /** One of a few short phrases. */
  readonly why: string;
  /** Expected success from the groups so far, in (0, 1). */
  readonly success: number;
  readonly weight: number;
}

/** An older group counts this much less than the one after it: the policy changes. */
const fading = 0.7;
/** A failing task stays in play: nothing that is not solved weighs less. */
const leastWeight = 0.1;

/**
 * Orders the tasks of a step: drawn without replacement by weights (Efraimidis and Spirakis, 2006), where a task weighs
 *
 *   w = max(0.1, 4 p (1 - p))        p = (1 + sum f^age resolved) / (2 + sum f^age played), f = 0.7
 *
 * so those that succeed half of the time come first (reward varies most there; unseen ones have p = 1/2), failing ones
 * stay in play, and a task whose last `retireAfter` groups were solved by all rests for `restSteps` steps: it comes after all
 * the others. A pure function of the record, so a resumed run chooses the same.
 */
export function rankTasks(
  taskIds: readonly string[],
  history: readonly GroupOutcome[],
  step: number,
  { retireAfter, restSteps }: Pick<Settings['curriculum'], 'retireAfter' | 'restSteps'>,
  seed: number,
): RankedTask[] {
  const byTask = new Map<string, GroupOutcome[]>(taskIds.map((id) => [id, []]));
  for (const group of history) byTask.get(group.taskId)?.push(group);
  const ranked = taskIds.map((taskId) => {
    const groups = byTask.get(taskId)!.filter(({ played }) => played > 0);
    const success = expectedSuccess(groups);
    const rests = retireAfter > 0 && isSolved(groups, retireAfter) && step - groups.at(-1)!.step <= restSteps;
    const weight = rests ? 0 : Math.max(leastWeight, 4 * success * (1 - success));
    const draw = (deriveSeed(seed, 'curriculum', step, taskId) + 1) / (2 ** 32 + 1);
    const key = rests ? draw - 1 : draw ** (1 / weight);
    return { taskId, why: reason(groups, success, rests), success, weight, key };
  });
  return ranked.sort((a, b) => b.key - a.key).map(({ key: _, ...task }) => task);
}

function expectedSuccess(groups: readonly GroupOutcome[]): number {
  let [resolved, played] = [0, 0];
  for (const group of groups) {
    resolved = fading * resolved + group.resolved;
    played = fading * played + group.played;
  }
  return (1 + resolved) / (2 + played);
}

const isSolved = (groups: readonly GroupOutcome[], retireAfter: number) =>
  groups.length >= retireAfter && groups.slice(-retireAfter).every(({ played, resolved }) => resolved === played);

function reason(groups: readonly GroupOutcome[], success: number, rests: boolean): string {
  if (rests) return 'solved, and nothing else is left';
  if (groups.length === 0) return 'not played yet';
  if (groups.every(({ resolved }) => resolved === 0)) return 'never solved, kept in play';
  return success >= 0.25 && success <= 0.75
    ? 'solved about half of the time'
    : success > 0.75
      ? 'mostly solved'
      : 'rarely solved';
}
