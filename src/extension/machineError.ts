import type { Phrase } from '../trajectory/said.js';
import { ofEngine } from './translate.js';

/** What the machine did to an episode, in the editor's language; null where it did not fail. */
export const machineError = (episode: {
  readonly infrastructureError: string | null;
  readonly infrastructurePhrase?: Phrase;
}): string | null =>
  episode.infrastructureError === null
    ? null
    : ofEngine({ message: episode.infrastructureError, phrase: episode.infrastructurePhrase });
