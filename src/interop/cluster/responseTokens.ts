import type { Settings } from '../../trainer/run/settings.js';

/** Tokens of a turn's observation, about: what it may be cut to, at some three characters a token. */
const observationTokens = 700;

/** Tokens that an episode may have behind its prompt, sampled ones and observations. */
export const responseTokens = (settings: Settings) =>
  settings.maxTurns * (settings.maxTokensPerTurn + observationTokens);
