import type { Episode, EpisodeCounters } from '../../env/episodeTypes.js';
import type { Grade } from '../../trajectory/grade.js';
import type { Task } from '../../trajectory/task.js';
import type { Generator } from '../model/policy.js';
import type { TextCodec } from '../text/textCodec.js';
import type { Dialogue, Opening } from './dialogue.js';

export type { EpisodePlan, EpisodePrefix, SamplingOptions } from './episodePlan.js';

/** How an episode came out. */
export interface Outcome {
  readonly grade: Grade;
  /** What the policy changed: a unified diff against the start tree. */
  readonly patch: string;
  readonly counters: EpisodeCounters;
}

/** One play of a task as rollouts see it, wherever its tree is. */
export interface ArenaEpisode extends Pick<Episode, 'prompt' | 'tools' | 'step' | 'statistics' | 'dispose'> {
  /** The episode's tree, where it is on this machine; else null. */
  readonly root: string | null;
  /** Ends the play and grades what the policy changed, in a tree that it never had. Only a failing machine throws. */
  finish(signal: AbortSignal): Promise<Outcome>;
}

/** Where episodes are played: a repository's environment with the run's limits and reward, seen from the rollouts. */
export interface Arena {
  readonly sandbox: string;
  /** A fresh play of the task. Only a failing machine throws (`infrastructure`). */
  startEpisode(task: Task, signal: AbortSignal): Promise<ArenaEpisode>;
}

/** Who plays: token ids in, token ids out, and the codec between them and messages. */
export interface Player {
  readonly generator: Generator;
  readonly codec: TextCodec;
  /** Optimizer steps behind the weights that sample. */
  readonly policyStep: number;
}

/** Anyone who plays by messages: a server's model, an expert. */
export interface MessagePlayer {
  /** Optimizer steps behind the weights that sample; 0 where there are none of ours. */
  readonly policyStep: number;
  converse(opening: Opening): Dialogue | Promise<Dialogue>;
}
