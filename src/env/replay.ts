import { isTurn, type AssistantMessage, type Message, type ToolMessage } from '../trajectory/message.js';
import type { Task } from '../trajectory/task.js';
import type { StopReason } from '../trajectory/trajectory.js';
import type { Environment } from './environment.js';
import { startEpisode } from './episode.js';
import type { Episode, EpisodeLimits } from './episodeTypes.js';
import { unifiedDiffHunks } from './reward/unifiedDiff.js';
import { failureOf } from './tools/failure.js';

export interface RecordedTurn {
  readonly message: AssistantMessage;
  /** Texts of the observations that the turn got; may be none for the last. */
  readonly observations: readonly string[];
}

/** The turns along a trajectory's nodes: each assistant message with the observations that followed it. */
export function recordedTurns(nodes: readonly { readonly message: Message }[]): RecordedTurn[] {
  const turns: { message: AssistantMessage; observations: string[] }[] = [];
  for (const { message } of nodes) {
    if (isTurn(message)) turns.push({ message, observations: [] });
    else if (message.role === 'tool') turns.at(-1)?.observations.push(message.content);
  }
  return turns;
}

export interface ReplayedTurn {
  /** The first turn is 1. */
  readonly turn: number;
  readonly same: boolean;
  readonly recorded: readonly string[];
  readonly observed: readonly string[];
  /** For each observation, the line that says what went wrong with the call; null where it went well. */
  readonly failures: readonly (string | null)[];
  /** Hunks of a unified diff from the recorded to the observed text; empty where they are the same. */
  readonly diff: string;
}

export interface ReplayOptions {
  /** The limits that the episode was played under. */
  readonly limits: EpisodeLimits;
  /** The last turn to play; all where not given. */
  readonly untilTurn?: number;
  readonly signal?: AbortSignal;
  readonly onTurn?: (turn: ReplayedTurn) => void;
  /** Leaves the episode open after the last turn; it is then the caller's to dispose. */
  readonly keepOpen?: boolean;
}

export interface Replay {
  readonly turns: readonly ReplayedTurn[];
  /** The live episode at that turn, with its files under `root`; null unless `keepOpen`. */
  readonly episode: Episode | null;
}

/** Plays recorded turns again in a fresh worktree and says where the observations differ from the record. */
export async function replayTrajectory(
  environment: Environment,
  task: Task,
  recorded: readonly RecordedTurn[],
  options: ReplayOptions,
): Promise<Replay> {
  const replay = await OpenReplay.start(environment, task, recorded, options.limits);
  let keep = false;
  try {
    const turns: ReplayedTurn[] = [];
    while (turns.length < (options.untilTurn ?? recorded.length)) {
      const turn = await replay.next(options.signal);
      if (turn === null) break;
      turns.push(turn);
      options.onTurn?.(turn);
    }
    keep = options.keepOpen ?? false;
    return { turns, episode: keep ? replay.episode : null };
  } finally {
    if (!keep) await replay.episode.dispose();
  }
}

/** A replay that goes on turn by turn, as its owner asks; the episode is the owner's to dispose. */
export class OpenReplay<Played extends Pick<Episode, 'step'> = Episode> {
  private turn = 0;
  /** Why the episode is over; null while it goes on. */
  stopReason: StopReason | null = null;

  /** Goes through `recorded` in an episode that was just opened. */
  constructor(
    readonly episode: Played,
    private readonly recorded: readonly RecordedTurn[],
  ) {}

  static async start(
    environment: Environment,
    task: Task,
    recorded: readonly RecordedTurn[],
    limits: EpisodeLimits,
  ): Promise<OpenReplay> {
    const maxTurns = Math.max(limits.maxTurns, recorded.length + 1);
    return new OpenReplay(await startEpisode(environment, task, { ...limits, maxTurns }), recorded);
  }

  /** Plays the next recorded turn; null where the record or the episode is over. */
  async next(signal?: AbortSignal): Promise<ReplayedTurn | null> {
    if (this.stopReason !== null || this.turn === this.recorded.length) return null;
    const { message, observations: recorded } = this.recorded[this.turn];
    const { observations, stopReason } = await this.episode.step(message, signal);
    this.stopReason = stopReason;
    this.turn += 1;
    return compare(this.turn, recorded, observations, this.turn === this.recorded.length);
  }
}

function compare(
  turn: number,
  recorded: readonly string[],
  observations: readonly ToolMessage[],
  ended: boolean,
): ReplayedTurn {
  const observed = observations.map(({ content }) => content);
  // What the last turn was answered is not part of the tokens, so a record need not hold it.
  const comparable = ended && recorded.length === 0 ? [] : observed;
  const same = comparable.length === recorded.length && comparable.every((text, index) => text === recorded[index]);
  const diff = same ? '' : unifiedDiffHunks(recorded.join('\n'), observed.join('\n'));
  return { turn, same, recorded, observed, failures: observations.map(failureOf), diff };
}
