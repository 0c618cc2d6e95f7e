import { isTurn } from '../../trajectory/message.js';
import type { Trajectory } from '../../trajectory/trajectory.js';
import type { TrajectoryHeader } from '../run/runRecord.js';

/** Trajectories that can be held against one another: they have everything in common up to where they part. */
export interface RecordedGroup {
  readonly taskId: string;
  readonly trajectoryIds: readonly string[];
}

/**
 * What a run has recorded of a task before a step: the episodes from the prompt on, the expert's too, as one group (of rollouts
 * the newest ones, at most `most`), and the branches that leave one trajectory behind the same turn as another each. Evaluations
 * are not learned from. A branch is only held against its siblings: others had another history.
 */
export function recordedGroups(
  headers: readonly TrajectoryHeader[],
  taskId: string,
  step: number,
  most: number,
): RecordedGroup[] {
  const known = headers
    .filter((header) => header.taskId === taskId && header.kind !== 'evaluation' && header.step < step)
    .sort((a, b) => b.step - a.step || (a.id < b.id ? -1 : 1));
  const whole = known.filter(({ origin }) => origin === undefined);
  const rollouts = whole.filter(({ kind }) => kind === 'rollout').slice(0, most);
  const first = [...whole.filter(({ kind }) => kind === 'demonstration'), ...rollouts];
  const siblings = new Map<string, string[]>();
  for (const { id, origin } of known) {
    if (origin === undefined) continue;
    const key = JSON.stringify([origin.trajectoryId, origin.turn]);
    siblings.set(key, [...(siblings.get(key) ?? []), id]);
  }
  return [first.map(({ id }) => id), ...siblings.values()].map((trajectoryIds) => ({ taskId, trajectoryIds }));
}

/** Those that were asked in the same words: a prompt may tell of earlier attempts, and what it tells changes. */
export function bySamePrompt(trajectories: readonly Trajectory[]): Trajectory[][] {
  const alike = new Map<string, Trajectory[]>();
  for (const trajectory of trajectories) {
    const firstTurn = trajectory.nodes.findIndex(({ message }) => isTurn(message));
    const prompt = trajectory.nodes.slice(0, firstTurn < 0 ? undefined : firstTurn).map(({ message }) => message);
    const key = JSON.stringify(prompt);
    alike.set(key, [...(alike.get(key) ?? []), trajectory]);
  }
  return [...alike.values()];
}
