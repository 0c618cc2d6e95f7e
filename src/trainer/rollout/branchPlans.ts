import { badInput } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';
import { isTurn } from '../../trajectory/message.js';
import type { Task } from '../../trajectory/task.js';
import type { Trajectory, TrajectoryNode } from '../../trajectory/trajectory.js';
import type { EpisodePlan, EpisodePrefix } from './episodePlan.js';
import { deriveSeed } from './seeds.js';

/** What tells a branch from what its run has recorded so far. */
export interface BranchNumbers {
  /** The run's seed. */
  readonly seed: number;
  /** Ids of the run's trajectories: branches of the same turn are counted on. */
  readonly takenIds: Pick<ReadonlySet<string>, 'has'>;
  /** The first number in the group that is free. */
  readonly firstSample: number;
  /** Stands before the number in the ids of branches that are planned and not asked for: nobody else takes those. */
  readonly label?: string;
}

/**
 * Episodes that leave a recorded one behind a turn and go on from there, in its group. Everything random in them follows from
 * the run's seed and their ids.
 * @param turn the last turn that they share; 0: only the prompt
 * @param policy who plays on, in words
 * @throws bad-input where nothing can follow that turn
 */
export function branchPlans(
  parent: Trajectory,
  task: Task,
  turn: number,
  count: number,
  policy: string,
  { seed, takenIds, firstSample, label = '' }: BranchNumbers,
): EpisodePlan[] {
  const prefix = prefixOf(parent, turn, policy);
  const idOf = (number: number) => `${parent.id}/turn-${turn}/${label}${number}`;
  let first = 0;
  while (takenIds.has(idOf(first))) first++;
  return Array.from({ length: count }, (_, index) => {
    const id = idOf(first + index);
    const sample = firstSample + index;
    return { id, kind: parent.kind, step: parent.step, task, sample, seed: deriveSeed(seed, 'branch', id), prefix };
  });
}

/** The nodes up to the last answer to a turn, or to the end of the prompt. */
function prefixOf({ id, nodes }: Trajectory, turn: number, policy: string): EpisodePrefix {
  const starts = nodes.flatMap(({ message }, index) => (isTurn(message) ? [index] : []));
  if (turn >= starts.length) {
    throw badInput(
      say`${id} has ${starts.length} turns, so nothing can leave it behind turn ${turn}.`,
      starts.length === 0 ? 'Choose another trajectory.' : say`Give a turn from 0 to ${starts.length - 1}.`,
    );
  }
  // What was shown or summed up anew before the next turn is so for the branch as well.
  let end = starts[turn]!;
  while (end > 0 && isRetold(nodes[end - 1]!)) end--;
  return { origin: { trajectoryId: id, turn, nodes: end, policy }, nodes: nodes.slice(0, end) };
}

const isRetold = ({ message, branch }: TrajectoryNode) =>
  branch !== undefined || (message.role === 'assistant' && message.aside !== undefined);
