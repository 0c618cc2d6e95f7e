import { setMaxListeners } from 'node:events';
import type { EpisodeCounters } from '../../env/episodeTypes.js';
import { recordedTurns, OpenReplay } from '../../env/replay.js';
import { cancelled, infrastructure, WhetstoneError } from '../../trajectory/errors.js';
import { say, type Phrase } from '../../trajectory/said.js';
import type { Grade } from '../../trajectory/grade.js';
import type { EpisodeStatistics, StopReason, Trajectory } from '../../trajectory/trajectory.js';
import { withLessons } from '../memory/lessons.js';
import { shapeGrade } from '../shaping/shapeGrade.js';
import type {
  Arena,
  ArenaEpisode,
  EpisodePlan,
  EpisodePrefix,
  MessagePlayer,
  Player,
  SamplingOptions,
} from './arena.js';
import type { Dialogue, Opening } from './dialogue.js';
import { NodePath } from './nodes.js';
import { Slots } from '../../env/slots.js';
import { TokenDialogue } from './tokenDialogue.js';

/**
 * Plays one episode to its end and grades it. A failure of the machine, or of ours, is tried once more from the start and
 * then recorded, without a grade. Throws `cancelled` where `signal` aborts: such an episode leaves no record.
 * @param slots for what the machine does (worktrees, commands, tests); sampling goes on meanwhile
 */
export async function playEpisode(
  player: Player | MessagePlayer,
  arena: Arena,
  plan: EpisodePlan,
  options: SamplingOptions,
  signal: AbortSignal,
  slots = new Slots(1),
): Promise<Trajectory> {
  const first = await attempt(player, arena, plan, options, signal, slots);
  return first.infrastructureError === null ? first : attempt(player, arena, plan, options, signal, slots);
}

interface Ending {
  readonly stopReason: StopReason;
  readonly infrastructureError: string | null;
  readonly infrastructurePhrase?: Phrase;
  readonly grade: Grade | null;
  readonly patch: string;
  readonly statistics: EpisodeStatistics;
}

async function attempt(
  player: Player | MessagePlayer,
  arena: Arena,
  plan: EpisodePlan,
  options: SamplingOptions,
  signal: AbortSignal,
  slots: Slots,
): Promise<Trajectory> {
  let dialogue: Dialogue | null = null;
  let episode: ArenaEpisode | null = null;
  let ending: Ending;
  try {
    const opened = await slots.run(signal, () => arena.startEpisode(plan.task, signal));
    episode = opened;
    const { prefix } = plan;
    if (prefix !== undefined) await slots.run(signal, () => repeatTurns(opened, prefix, signal));
    const { tools, root } = opened;
    const prompt = withLessons(opened.prompt, plan.lessons);
    dialogue = await converse(player, { plan, prompt, tools, root, options });
    const stopReason = await playTurns(dialogue, opened, options, signal, slots);
    const { grade, patch, counters } = await slots.run(signal, () => opened.finish(signal));
    const statistics = statisticsOf(counters, dialogue.path);
    const played = { nodes: dialogue.path.nodes, patch, stopReason, statistics };
    const judged = await options.judge?.(played, plan.task, plan.seed, signal);
    const shaped = shapeGrade(grade, played, plan.task, options.shaping ?? null, judged);
    ending = { stopReason, infrastructureError: null, grade: shaped, patch, statistics };
  } catch (error) {
    if (signal.aborted) throw cancelled();
    const isKnown = error instanceof WhetstoneError;
    // What the user has to mend, or a policy that diverged, ends the run.
    if (isKnown && error.kind !== 'infrastructure') throw error;
    const { message, phrase } = isKnown ? error.said : say`The episode crashed: ${(error as Error).message}`;
    const statistics = statisticsOf(episode?.statistics() ?? nothingPlayed, dialogue?.path ?? new NodePath());
    const failure = { infrastructureError: message, ...(phrase && { infrastructurePhrase: phrase }) };
    ending = { stopReason: 'error', ...failure, grade: null, patch: '', statistics };
  } finally {
    dialogue?.end();
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
    ...(options.constrainedCalls === true && 'codec' in player ? { constrained: true as const } : {}),
    policyStep: player.policyStep,
    sandbox: arena.sandbox,
    ...(plan.prefix === undefined ? {} : { origin: plan.prefix.origin }),
    nodes: dialogue?.path.nodes ?? plan.prefix?.nodes ?? [],
    ...ending,
  };
}

/**
 * Takes the episode to where its prefix ends, by the recorded actions. Throws `infrastructure` where the tools answer otherwise
 * than recorded: what the policy would be shown is not what its tree is like.
 */
async function repeatTurns(episode: ArenaEpisode, prefix: EpisodePrefix, signal: AbortSignal): Promise<void> {
  const { trajectoryId, turn: last } = prefix.origin;
  const replay = new OpenReplay(episode, recordedTurns(prefix.nodes));
  for (let turn = await replay.next(signal); turn !== null; turn = await replay.next(signal)) {
    if (turn.same) continue;
    throw infrastructure(
      say`Turn ${turn.turn} of ${trajectoryId} was answered otherwise than recorded when it was repeated.`,
      'See the differences with `whetstone replay`, or branch before that turn.',
    );
  }
  if (replay.stopReason === null) return;
  throw infrastructure(
    say`${trajectoryId} is over (${replay.stopReason}) by turn ${last}: nothing can follow.`,
    'Branch before that turn.',
  );
}

const converse = (player: Player | MessagePlayer, opening: Opening): Dialogue | Promise<Dialogue> =>
  'converse' in player ? player.converse(opening) : new TokenDialogue(player, opening);

async function playTurns(
  dialogue: Dialogue,
  episode: ArenaEpisode,
  options: SamplingOptions,
  signal: AbortSignal,
  slots: Slots,
): Promise<StopReason> {
  let milliseconds = options.episodeSeconds * 1000;
  for (;;) {
    const message = await dialogue.next(signal);
    if (message === null) return 'token-limit';
    // Waiting for a slot is no time of the policy's commands.
    const step = await slots.run(signal, async () => {
      const started = performance.now();
      const played = await withTimeLimit(milliseconds, signal, (limited) => episode.step(message, limited));
      milliseconds -= performance.now() - started;
      return played;
    });
    if (step === null) return 'time-limit';
    dialogue.observe(step.observations);
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
  return { ...counters, sampledTokens: path.sampledTokens, totalTokens: path.allTokens };
}
