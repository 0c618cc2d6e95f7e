import { isTurn } from '../../trajectory/message.js';
import type { Trajectory } from '../../trajectory/trajectory.js';
import type { Settings } from '../run/settings.js';

/** A turn behind which a rollout is left, so that the next one is played otherwise. */
export interface Pivot {
  readonly parent: Trajectory;
  /** The last turn that is shared, 1 for the first. */
  readonly turn: number;
}

/**
 * The turns of a group's rollouts that are worth another try: those whose next turn the policy was least sure of, by the mean entropy
 * of its tokens (as ARPO branches where tokens are uncertain, arXiv 2507.19849), at most one a rollout. Rollouts may part only at the
 * ends of macro-steps of `macroTurns` turns. The entropies are those along what was sampled there, so that the choice is not quite
 * independent of it. A turn that all continuations answer alike teaches nothing in the end (PivotRL,
 * arXiv 2603.21383, keeps only those whose outcomes differ), which the advantages take care of.
 * @returns at most `pivots`, the least sure first; of equal ones those of the earlier rollout
 */
export function choosePivots(
  group: readonly Trajectory[],
  { pivots, macroTurns }: Pick<Settings['algorithm'], 'pivots' | 'macroTurns'>,
): Pivot[] {
  return group
    .filter(({ infrastructureError }) => infrastructureError === null)
    .flatMap((parent) => {
      const doubts = turnEntropies(parent)
        .map((entropy, turn) => ({ parent, turn, entropy }))
        .filter(({ turn, entropy }) => turn > 0 && turn % macroTurns === 0 && !Number.isNaN(entropy));
      const [first] = doubts;
      return first === undefined
        ? []
        : [doubts.reduce((most, one) => (one.entropy > most.entropy ? one : most), first)];
    })
    .sort((a, b) => b.entropy - a.entropy)
    .slice(0, pivots)
    .map(({ parent, turn }) => ({ parent, turn }));
}

/** Mean entropy of each turn's sampled tokens, in nats; NaN where none is known: [turns] */
function turnEntropies({ nodes }: Trajectory): number[] {
  return nodes
    .filter(({ message }) => isTurn(message))
    .map(({ entropies }) => {
      const known = entropies.filter((entropy) => !Number.isNaN(entropy));
      return known.reduce((sum, entropy) => sum + entropy, 0) / known.length;
    });
}
