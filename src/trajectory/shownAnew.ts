import { isTurn } from './message.js';
import type { BranchReason, TrajectoryNode } from './trajectory.js';

/** A turn before which the policy was shown its history otherwise than until then, and why. */
export interface ShownAnew {
  /** 1-based; the turn that came next, or was to come. */
  readonly turn: number;
  /** Index of the node that holds the rest of the history as it was shown from there on. */
  readonly node: number;
  readonly reason: BranchReason;
}

/** Where a trajectory's history was shown anew, in order: turn by turn, whether its chat template rewrote what it had stored. */
export function shownAnew(nodes: readonly Pick<TrajectoryNode, 'message' | 'branch'>[]): ShownAnew[] {
  let turn = 1;
  return nodes.flatMap(({ message, branch }, node) => {
    if (isTurn(message)) turn += 1;
    return branch === undefined ? [] : [{ turn, node, reason: branch }];
  });
}
