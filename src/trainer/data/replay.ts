import type { ReplayedGroup, StepEvent } from '../run/runRecord.js';
import type { Settings } from '../run/settings.js';

/**
 * Chooses the groups of a step's replay out of the record: groups whose rewards differ, at most `staleness` steps old and not
 * yet used up. `fifo` takes the oldest first; `priority` those with the largest mean absolute advantage, as far as it goes a
 * measure of what is left to learn. A pure function of the record, so a resumed run chooses the same.
 * @param history step events; those of this step and later ones (of a run that was killed) are not looked at
 */
export function chooseReplay(
  history: readonly StepEvent[],
  step: number,
  { groups: count, order, staleness, uses }: Settings['replay'],
): ReplayedGroup[] {
  if (count === 0) return [];
  // Only what the policy gradient learned from has advantages.
  const known = history.filter(
    (event) => event.step < step && (event.method ?? 'policy-gradient') === 'policy-gradient',
  );
  const used = new Map<string, number>();
  for (const { replayed = [] } of known) {
    for (const { trajectoryIds } of replayed) used.set(trajectoryIds[0], (used.get(trajectoryIds[0]) ?? 0) + 1);
  }
  const candidates = known
    .filter((event) => event.step >= step - staleness)
    .flatMap((event) =>
      event.groups.map(({ taskId, trajectoryIds, advantages }) => ({
        fromStep: event.step,
        taskId,
        trajectoryIds,
        spread: advantages.reduce((sum, value) => sum + Math.abs(value), 0) / Math.max(1, advantages.length),
      })),
    )
    .filter(({ trajectoryIds, spread }) => spread > 0 && (used.get(trajectoryIds[0]) ?? 0) < uses);
  // Sorting keeps the order of equals: older ones first.
  const sorted = order === 'fifo' ? candidates : [...candidates].sort((a, b) => b.spread - a.spread);
  return sorted.slice(0, count).map(({ spread, ...group }) => ({
    ...group,
    why: order === 'fifo' ? 'the oldest that may still be used' : `mean absolute advantage ${spread.toFixed(3)}`,
  }));
}
