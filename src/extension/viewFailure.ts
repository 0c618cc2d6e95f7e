import { lineOf } from './lineOf.js';
import { plainMessage } from './plainText.js';

/** For the rejected children of a view, whose message the editor shows as it is: in its language, with the remedy, without links. */
export function throwPlainly(error: unknown): never {
  throw new Error(`Whetstone: ${plainMessage(lineOf(error))}`, { cause: error });
}
