import { availableParallelism } from 'node:os';
import { startEpisode } from '../../env/episode.js';
import type { Environment } from '../../env/environment.js';
import { gradeChanges } from '../../env/grade.js';
import { episodeLimits } from '../run/episodeLimits.js';
import type { Settings } from '../run/settings.js';
import type { Arena, SamplingOptions } from './arena.js';

/** How rollouts are sampled; evaluations are greedy where each task is played once, else sampled as rollouts are. */
export function samplingOptions(settings: Settings, kind: 'rollout' | 'evaluation'): SamplingOptions {
  const greedy = kind === 'evaluation' && settings.evaluationSamples === 1;
  const { topP, topK, minP, stopStrings, contextShare, keptObservations, maxTokensPerTurn, episodeSeconds } = settings;
  const commandSlots = settings.commandConcurrency === 0 ? 2 * availableParallelism() : settings.commandConcurrency;
  const cuts = { topP, topK, minP, stopStrings, contextShare, keptObservations };
  return { temperature: greedy ? 0 : settings.temperature, ...cuts, commandSlots, maxTokensPerTurn, episodeSeconds };
}

/**
 * The environment as rollouts see it, with the run's limits and weights of the reward.
 * @param callExample how the policy writes a tool call, for the prompt and the answers to malformed calls
 */
export function environmentArena(environment: Environment, settings: Settings, callExample?: string): Arena {
  return {
    sandbox: environment.sandbox,
    startEpisode: (task) => startEpisode(environment, task, episodeLimits(settings), callExample),
    grade: (task, changes, statistics, signal) =>
      gradeChanges(environment, task, changes, {
        statistics,
        weights: settings.reward,
        timeoutMs: settings.testSeconds * 1000,
        signal,
      }),
  };
}
