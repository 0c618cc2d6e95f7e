import type { AssistantMessage, SystemMessage, ToolMessage, ToolSchema, UserMessage } from '../trajectory/message.js';
import type { EpisodeStatistics, StopReason } from '../trajectory/trajectory.js';
import type { FileChange } from './workspace/workspace.js';

export interface EpisodeLimits {
  readonly maxTurns: number;
  readonly commandTimeoutMs: number;
  readonly testTimeoutMs: number;
  /** Observations are cut in the middle to this many characters. */
  readonly observationCharacters: number;
  /** The first submission is answered with the wish to look at the work once more; the second ends the episode. */
  readonly selfCheck?: boolean;
}

export interface EpisodeStep {
  readonly observations: readonly ToolMessage[];
  /** Not null where the episode is over: submitted, no tool call, turn limit. */
  readonly stopReason: StopReason | null;
}

/** Counters of an episode as the environment sees it; tokens are the caller's to fill. */
export interface EpisodeCounters extends Omit<EpisodeStatistics, 'sampledTokens' | 'totalTokens'> {
  /** Turns that opened with a thought. */
  readonly thoughtTurns: number;
}

/** One play of a task: reset by `startEpisode`, then `step` until it stops, then `changes` for the grade. */
export interface Episode {
  readonly prompt: readonly [SystemMessage, UserMessage];
  readonly tools: readonly ToolSchema[];
  /** The episode's tree on this machine. */
  readonly root: string;
  /** Plays one assistant message. A bad call is answered and counted; only a failing machine throws (`infrastructure`). */
  step(message: AssistantMessage, signal?: AbortSignal): Promise<EpisodeStep>;
  /** What the policy changed so far, tests and configuration of tests included. */
  changes(): Promise<FileChange[]>;
  /** Counters so far. */
  statistics(): EpisodeCounters;
  dispose(): Promise<void>;
}
