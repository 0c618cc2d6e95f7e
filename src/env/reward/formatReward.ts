import type { EpisodeStatistics } from '../../trajectory/trajectory.js';

/** Share of the format reward that thoughts earn, where they were counted. */
const THOUGHT_SHARE = 0.2;

export type FormatCounters = Pick<
  EpisodeStatistics,
  'turns' | 'validCalls' | 'malformedCalls' | 'unknownTools' | 'invalidArguments'
> & { readonly thoughtTurns?: number };

/**
 * Format reward in [0, 1] (requirement R3): mostly the share of tool calls that were valid, and the share of turns with
 * a thought. Without `thoughtTurns` the calls alone decide. An episode without any call earns nothing for its calls.
 */
export function formatReward(counters: FormatCounters): { readonly score: number; readonly reason: string } {
  const { turns, validCalls, malformedCalls, unknownTools, invalidArguments, thoughtTurns } = counters;
  const calls = validCalls + malformedCalls + unknownTools + invalidArguments;
  const valid = calls === 0 ? 0 : validCalls / calls;
  const reason = `${validCalls} of ${calls} calls valid`;
  if (thoughtTurns === undefined) return { score: valid, reason };
  const thought = turns === 0 ? 0 : thoughtTurns / turns;
  return {
    score: (1 - THOUGHT_SHARE) * valid + THOUGHT_SHARE * thought,
    reason: `${reason}, ${thoughtTurns} of ${turns} turns with a thought`,
  };
}
