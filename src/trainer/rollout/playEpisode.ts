import { setMaxListeners } from 'node:events';
import type { Episode, EpisodeCounters } from '../../env/episodeTypes.js';
import { unifiedDiff } from '../../env/tasks/unifiedDiff.js';
import { cancelled, WhetstoneError } from '../../trajectory/errors.js';
import type { Grade } from '../../trajectory/grade.js';
import type { EpisodeStatistics, StopReason, Trajectory } from '../../trajectory/trajectory.js';
import type { Arena, EpisodePlan, Player, SamplingOptions } from './arena.js';
import { NodePath, observationNodes } from './nodes.js';
import { deriveSeed } from './seeds.js';

/**
 * Plays one episode to its end and grades it. A failure of the machine is tried once more from the start and then
 * recorded, without a grade. Throws `cancelled` where `signal` aborts: such an episode leaves no record.
 */
export async function playEpisode(
  player: Player,
  arena: Arena,
  plan: EpisodePlan,
  options: SamplingOptions,
  signal: AbortSignal,
): Promise<Trajectory> {
  const first = await attempt(player, arena, plan, options, signal);
  return first.infrastructureError === null ? first : attempt(player, arena, plan, options, signal);
}

interface Ending {
  readonly stopReason: StopReason;
  readonly infrastructureError: string | null;
  readonly grade: Grade | null;
  readonly patch: string;
  readonly statistics: EpisodeStatistics;
}

async function attempt(
  player: Player,
  arena: Arena,
  plan: EpisodePlan,
  options: SamplingOptions,
  signal: AbortSignal,
): Promise<Trajectory> {
  const path = new NodePath();
  let episode: Episode | null = null;
  let ending: Ending;
  try {
    episode = await arena.startEpisode(plan.task);
    const stopReason = await playTurns(player, episode, path, plan, options, signal);
    const changes = await episode.changes();
    const counters = episode.statistics();
    const grade = await arena.grade(plan.task, changes, counters, signal);
    const statistics = statisticsOf(counters, path);
    ending = { stopReason, infrastructureError: null, grade, patch: unifiedDiff(changes), statistics };
  } catch (error) {
    if (signal.aborted) throw cancelled();
    if (!(error instanceof WhetstoneError) || error.kind !== 'infrastructure') throw error;
    const statistics = statisticsOf(episode?.statistics() ?? nothingPlayed, path);
    ending = { stopReason: 'error', infrastructureError: error.line, grade: null, patch: '', statistics };
  } finally {
    player.generator.release(plan.id);
    await episode?.dispose();
  }
  return {
    id: plan.id,
    kind: plan.kind,
    step: plan.step,
    taskId: plan.task.instance_id,
    split: plan.task.whetstone.split,
    sample: plan.sample,
    seed: plan.seed,
    temperature: options.temperature,
    policyStep: player.policyStep,
    sandbox: arena.sandbox,
    nodes: path.nodes,
    ...ending,
  };
}

async function playTurns(
  { generator, codec }: Player,
  episode: Episode,
  path: NodePath,
  plan: EpisodePlan,
  options: SamplingOptions,
  signal: AbortSignal,
): Promise<StopReason> {
  for (const { message, tokenIds } of codec.promptNodes(episode.prompt, episode.tools))
    path.addGiven(message, tokenIds);
  let milliseconds = options.episodeSeconds * 1000;
  for (let turn = 0; ; turn++) {
    const room = generator.maxContext - path.tokens;
    if (room <= 0) return 'token-limit';
    const sampled = await generator.generate({
      tokenIds: path.tokenIds(),
      sessionId: plan.id,
      maxNewTokens: Math.min(options.maxTokensPerTurn, room),
      stopTokenIds: codec.stopTokenIds,
      temperature: options.temperature,
      topP: options.topP,
      topK: options.topK,
      seed: deriveSeed(plan.seed, turn),
      signal,
    });
    const message = codec.parseTurn(sampled.tokenIds);
    path.addSampled(message, sampled);
    // The turn was cut by the end of the context: it is not whole, and there is no room for an answer to it.
    if (path.tokens >= generator.maxContext) return 'token-limit';

    const started = performance.now();
    const step = await withTimeLimit(milliseconds, signal, (limited) => episode.step(message, limited));
    milliseconds -= performance.now() - started;
    if (step === null) return 'time-limit';
    const turnTokens = { sampledIds: sampled.tokenIds, message };
    for (const node of observationNodes(codec, turnTokens, step.observations)) {
      path.addGiven(node.message, node.tokenIds);
    }
    if (step.stopReason !== null) return step.stopReason;
    if (milliseconds <= 0) return 'time-limit';
  }
}

/** Null where the time was up. Only the episode's own commands count: waiting for a neighbour's tokens is no fault of the policy. */
async function withTimeLimit<T>(
  milliseconds: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T | null> {
  const time = AbortSignal.timeout(Math.max(1, Math.ceil(milliseconds)));
  const limited = AbortSignal.any([signal, time]);
  setMaxListeners(0, limited);
  try {
    return await work(limited);
  } catch (error) {
    if (time.aborted && !signal.aborted) return null;
    throw error;
  }
}

const nothingPlayed: EpisodeCounters = {
  turns: 0,
  thoughtTurns: 0,
  toolCalls: {},
  malformedCalls: 0,
  unknownTools: 0,
  invalidArguments: 0,
  validCalls: 0,
  seconds: 0,
};

function statisticsOf(counters: EpisodeCounters, path: NodePath): EpisodeStatistics {
  return { ...counters, sampledTokens: path.sampledTokens, totalTokens: path.tokens };
}
