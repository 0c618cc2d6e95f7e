import { applySite } from '../../env/tasks/injection/operator.js';
import { functionsAround, suggestionsOf } from '../../env/tools/suggest.js';

/** A suggestion by the function that it is listed for and its number, and its line. */
export interface SuggestedFix {
  readonly name: string;
  readonly number: number;
  readonly line: number;
}

/** The innermost function with a name in which two texts begin to differ; null where they differ outside of all. */
export function functionAtFault(path: string, before: string, after: string): string | null {
  let same = 0;
  while (same < before.length && before[same] === after[same]) same += 1;
  return functionsAround(path, before, same).at(-1)?.name ?? null;
}

/** The suggestion that makes the one text of the other, but for blanks and brackets; null where none does. */
export function suggestedFix(path: string, before: string, after: string): SuggestedFix | null {
  const name = functionAtFault(path, before, after);
  const changes = name === null ? [] : suggestionsOf(path, before, name);
  if (name === null || 'problem' in changes) return null;
  const index = changes.findIndex(({ site }) => isSameCode(applySite(before, site), after));
  return index < 0 ? null : { name, number: index + 1, line: changes[index].line };
}

/** Equal but for blanks and brackets: a negation that is dropped leaves its own. */
export const isSameCode = (one: string, other: string) => essence(one) === essence(other);

const essence = (text: string) => text.replace(/[\s()]/g, '');
