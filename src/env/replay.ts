import type { AssistantMessage } from '../trajectory/message.js';
import type { Task } from '../trajectory/task.js';
import type { Environment } from './environment.js';
import { startEpisode } from './episode.js';
import type { Episode, EpisodeLimits } from './episodeTypes.js';
import { unifiedDiffHunks } from './reward/unifiedDiff.js';

export interface RecordedTurn {
  readonly message: AssistantMessage;
  /** Texts of the observations that the turn got; may be none for the last. */
  readonly observations: readonly string[];
}

export interface ReplayedTurn {
  /** The first turn is 1. */
  readonly turn: number;
  readonly same: boolean;
  readonly recorded: readonly string[];
  readonly observed: readonly string[];
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
  const limits = { ...options.limits, maxTurns: Math.max(options.limits.maxTurns, recorded.length + 1) };
  const episode = await startEpisode(environment, task, limits);
  let keep = false;
  try {
    const turns: ReplayedTurn[] = [];
    for (const [index, turn] of recorded.slice(0, options.untilTurn).entries()) {
      const { observations, stopReason } = await episode.step(turn.message, options.signal);
      const observed = observations.map((observation) => observation.content);
      const replayed = compare(index + 1, turn.observations, observed, index === recorded.length - 1);
      turns.push(replayed);
      options.onTurn?.(replayed);
      if (stopReason !== null) break;
    }
    keep = options.keepOpen ?? false;
    return { turns, episode: keep ? episode : null };
  } finally {
    if (!keep) await episode.dispose();
  }
}

function compare(turn: number, recorded: readonly string[], observed: readonly string[], ended: boolean): ReplayedTurn {
  // What the last turn was answered is not part of the tokens, so a record need not hold it.
  const comparable = ended && recorded.length === 0 ? [] : observed;
  const same = comparable.length === recorded.length && comparable.every((text, index) => text === recorded[index]);
  const diff = same ? '' : unifiedDiffHunks(recorded.join('\n'), observed.join('\n'));
  return { turn, same, recorded, observed, diff };
}
