import type { ShownAnew } from '../trajectory/shownAnew.js';
import type { BranchReason } from '../trajectory/trajectory.js';

const why: Readonly<Record<BranchReason, string>> = {
  template: 'the chat template would render what came before otherwise than it was stored',
  window: 'older observations were left out for want of room',
  summary: 'it was asked for a summary of its progress, or went on from one',
};

/** Each place where a trajectory's history was shown anew, for a person. */
export const historyLines = (places: readonly ShownAnew[]): string[] =>
  places.map(({ turn, reason }) => `Before turn ${turn} the history was shown anew: ${why[reason]}.`);
