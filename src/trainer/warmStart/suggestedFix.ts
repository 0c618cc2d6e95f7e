import type { Suspect } from '../../env/suspects/rankSuspects.js';
import { applySite } from '../../env/tasks/injection/operator.js';
import { suggestionsOf } from '../../env/tools/suggest.js';

/** A suggestion by the numbers of the suspect and of the change. */
export interface SuggestedFix {
  readonly suspect: number;
  readonly number: number;
}

/** Numbers of the suspects that are parts of the innermost function in which two texts of a file begin to differ. */
export function suspectsAtFault(
  suspects: readonly Suspect[],
  path: string,
  before: string,
  after: string,
): readonly number[] {
  const place = firstDifference(before, after);
  const around = suspects.filter((one) => one.path === path && one.start <= place && place < one.end);
  const length = Math.min(...around.map(({ start, end }) => end - start));
  return suspects.flatMap((one, index) => (around.includes(one) && one.end - one.start === length ? [index + 1] : []));
}

/** Characters between the beginning of a change and the first difference that it makes. */
const farthest = 4000;

/** The suggestion that makes the one text of the other, but for blanks and brackets; null where none does. */
export function suggestedFix(
  suspects: readonly Suspect[],
  path: string,
  before: string,
  after: string,
): SuggestedFix | null {
  const place = firstDifference(before, after);
  for (const [index, suspect] of suspects.entries()) {
    if (suspect.path !== path) continue;
    const number = suggestionsOf(suspect, before).findIndex(
      ({ site }) => Math.abs(site.start - place) < farthest && isSameCode(applySite(before, site), after),
    );
    if (number >= 0) return { suspect: index + 1, number: number + 1 };
  }
  return null;
}

function firstDifference(before: string, after: string): number {
  let same = 0;
  while (same < before.length && before[same] === after[same]) same += 1;
  return same;
}

/** Equal but for blanks and brackets: a negation that is dropped leaves its own. */
export const isSameCode = (one: string, other: string) => essence(one) === essence(other);

const essence = (text: string) => text.replace(/[\s()]/g, '');
