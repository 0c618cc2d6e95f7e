import type { Task } from '../../trajectory/task.js';
import type { BranchOrigin, TrajectoryNode } from '../../trajectory/trajectory.js';

export interface SamplingOptions {
  /** 0 is greedy. */
  readonly temperature: number;
  readonly topP: number;
  readonly topK: number;
  readonly minP: number;
  /** Text that ends a turn, beside what the policy's tool format asks for. */
  readonly stopStrings: readonly string[];
  /** Share of the context from which on older observations are left out, all but the last `keptObservations`; 0 keeps all. */
  readonly contextShare: number;
  readonly keptObservations: number;
  /** Commands of episodes that run side by side; the others wait, and sampling goes on meanwhile. */
  readonly commandSlots: number;
  readonly maxTokensPerTurn: number;
  /** Seconds that the episode's commands may take together. */
  readonly episodeSeconds: number;
}

/** What an episode repeats before its policy has a say: the recorded nodes of another one. */
export interface EpisodePrefix {
  readonly origin: BranchOrigin;
  readonly nodes: readonly TrajectoryNode[];
}

/** Which episode to play. Everything random in it comes from `seed`. */
export interface EpisodePlan {
  readonly id: string;
  readonly kind: 'rollout' | 'evaluation' | 'demonstration';
  readonly step: number;
  readonly task: Task;
  readonly sample: number;
  readonly seed: number;
  /** In place of the temperature of all. */
  readonly temperature?: number;
  /** Set where the episode is a branch of another one. */
  readonly prefix?: EpisodePrefix;
}
