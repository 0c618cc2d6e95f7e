import type { Subgoals } from './subgoals.js';

/** A rollout as turn-level credit sees it. */
export interface TurnView {
  /** Turn that each token belongs to; -1 where the policy did not sample it: [time] */
  readonly turnOfToken: Int32Array;
  /** What the policy saw before each turn since the one before: [turns] */
  readonly states: readonly string[];
  /** Information gained by each turn (informationGain.ts); null where nobody asked: [turns] */
  readonly gains: readonly number[] | null;
  /** Null where nobody asked. */
  readonly subgoals: Subgoals | null;
}
