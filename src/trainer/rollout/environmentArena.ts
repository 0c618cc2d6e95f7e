import { availableParallelism } from 'node:os';
import { startEpisode } from '../../env/episode.js';
import type { Environment } from '../../env/environment.js';
import { gradeChanges } from '../../env/grade.js';
import { unifiedDiff } from '../../env/tasks/unifiedDiff.js';
import { judgeOf } from '../judge/judge.js';
import { episodeLimits } from '../run/episodeLimits.js';
import type { Settings } from '../run/settings.js';
import { shapingOf } from '../shaping/shapeGrade.js';
import type { Arena, SamplingOptions } from './arena.js';
import type { TestMemory } from './testMemory.js';

/** How rollouts are sampled; evaluations are greedy where each task is played once, else sampled as rollouts are. */
export function samplingOptions(settings: Settings, kind: 'rollout' | 'evaluation'): SamplingOptions {
  const greedy = kind === 'evaluation' && settings.evaluationSamples === 1;
  const { topP, topK, minP, stopStrings, maxTokensPerTurn, episodeSeconds } = settings;
  const { contextThreshold, contextShare, keptObservations, contextSummary } = settings;
  const ownSlots = settings.commandConcurrency === 0 ? 2 * availableParallelism() : settings.commandConcurrency;
  // Workers have as many sessions as they run commands well at once: only those bound what goes on there.
  const commandSlots = settings.workers.length > 0 ? settings.concurrency : ownSlots;
  const cuts = { topP, topK, minP, stopStrings, constrainedCalls: settings.constrainedCalls };
  const [shaping, judge] = [shapingOf(settings), judgeOf(settings.judge)];
  const context = { contextThreshold, contextShare, keptObservations, contextSummary };
  return {
    temperature: greedy ? 0 : settings.temperature,
    ...cuts,
    ...context,
    commandSlots,
    maxTokensPerTurn,
    episodeSeconds,
    ...(shaping && { shaping }),
    ...(judge && { judge }),
  };
}

/**
 * The environment as rollouts see it, with the run's limits and weights of the reward.
 * @param callExample how the policy writes a tool call, for the prompt and the answers to malformed calls
 * @param memory of test runs; null: each is made
 */
export function environmentArena(
  environment: Environment,
  settings: Settings,
  callExample?: string,
  memory: TestMemory | null = null,
): Arena {
  return {
    sandbox: environment.sandbox,
    startEpisode: async (task) => {
      const episode = await startEpisode(environment, task, episodeLimits(settings), callExample, memory?.shown);
      return {
        prompt: episode.prompt,
        tools: episode.tools,
        root: episode.root,
        step: (message, signal) => episode.step(message, signal),
        statistics: () => episode.statistics(),
        dispose: () => episode.dispose(),
        finish: async (signal) => {
          const changes = await episode.changes();
          const counters = episode.statistics();
          // The grade has a tree of its own.
          await episode.dispose();
          const grade = await gradeChanges(environment, task, changes, {
            statistics: counters,
            weights: settings.reward,
            timeoutMs: settings.testSeconds * 1000,
            signal,
            ...(memory && { memory: memory.graded }),
          });
          return { grade, patch: unifiedDiff(changes), counters };
        },
      };
    },
  };
}
