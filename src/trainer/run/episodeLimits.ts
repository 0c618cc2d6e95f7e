import type { EpisodeLimits } from '../../env/episodeTypes.js';
import type { Settings } from './settings.js';

const commandSeconds = 30;
const observationCharacters = 2000;

/** Limits of an episode by the settings of its run; a replay plays under the same. */
export function episodeLimits(settings: Settings): EpisodeLimits {
  return {
    maxTurns: settings.maxTurns,
    commandTimeoutMs: Math.min(commandSeconds, settings.episodeSeconds) * 1000,
    testTimeoutMs: settings.testSeconds * 1000,
    observationCharacters,
    selfCheck: settings.selfCheck,
  };
}
